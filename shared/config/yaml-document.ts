import type { CST, Document, ParsedNode } from 'yaml';
import { yieldToOthers } from '../event-loop.ts';
import { Composer, Lexer, LineCounter, Parser, quickly } from '../kube/parse-yaml.ts';
import { withoutStacks } from '../without-stacks.ts';

/** A YAML document, with whether another one follows, or its first mistake. */
export type YamlDocument =
  | { document: Document.Parsed<ParsedNode>; hasMore: boolean }
  /** In the parser's words; the place is counted from 1, and missing where the parser knows none. */
  | { mistake: string; place?: { line: number; column: number } };

/** Between two looks at the clock. */
const LEXEMES = 100;

/**
 * Parses a text with one document. Reading its lexemes takes most of the time, and gives others their turn: a project may
 * write 5,000 lines that take a fifth of a second.
 */
export async function parseInTurns(text: string): Promise<YamlDocument> {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (++lexemes % LEXEMES === 0) await yieldToOthers();
  }
  for (const token of parser.end()) tokens.push(token);
  // Only the first of its mistakes is shown, and a text within the limits may have 30,000.
  const [document, next] = withoutStacks(() => {
    // Composed one by one, and only two: a text may have thousands.
    const [first, second] = new Composer(quickly).compose(tokens, true, text.length);
    return [first, second];
  });
  const error = document?.errors[0];
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.pos[0]);
    return { mistake: error.message, ...(line > 0 && { place: { line, column: col } }) };
  }
  return { document: document as Document.Parsed<ParsedNode>, hasMore: next !== undefined };
}
