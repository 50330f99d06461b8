import type { CST, Document, ParsedNode } from 'yaml';
import { yieldToOthers } from '../event-loop.ts';
import { Composer, isJson, Lexer, LineCounter, NOT_JSON, Parser, quickly, visit } from '../kube/parse-yaml.ts';
import { createRecentlyUsed } from '../recently-used.ts';
import { withoutStacks } from '../without-stacks.ts';
import type { YamlText } from './document-types.ts';
import { limits, limitText } from './limits.ts';
import { quote } from './quote.ts';
import { sizeProblem } from './size-limit.ts';
import { keyProblem } from './yaml-keys.ts';

/**
 * The texts of a project are read for each of its Shoots. Weighed in characters: a value takes up to thirty times as many
 * bytes, and a short one as many as a text of a thousand.
 */
const known = createRecentlyUsed<Promise<YamlText>>(256 * 1024);

/** Reads a YAML text, once for equal ones. */
export async function readYamlText(text: string): Promise<YamlText> {
  const tooMuch = complexityProblem(text);
  if (tooMuch !== undefined) return { problem: tooMuch };
  const found = known.get(text);
  if (found !== undefined) return found;
  const reading = parse(text);
  known.set(text, reading, text.length + 1000);
  return reading;
}

/**
 * Returns why a text would take too long to parse. The parser needs seconds for some short texts, such as ten thousand
 * keys without a value, so what makes it slow is counted before.
 */
export function complexityProblem(text: string): string | undefined {
  if (text.length > limits.yaml.most * 1024) return tooMany(limits.yaml);
  let [lines, marks, rare] = [1, 0, 0];
  for (const character of text) {
    if (character === '\n') lines++;
    else if (MARKS.has(character)) marks++;
    else if (RARE.has(character)) rare++;
  }
  if (lines > limits.yamlLines.most) return tooMany(limits.yamlLines);
  if (marks > limits.yamlMarks.most) return tooMany(limits.yamlMarks);
  return rare > limits.yamlRare.most ? tooMany(limits.yamlRare) : undefined;
}

const MARKS = new Set('[]{},:\'"|>%#-');
/** Of keys without a value, tags, anchors and aliases. */
const RARE = new Set('?!&*');

function tooMany(limit: Parameters<typeof limitText>[0]): string {
  return `has more than ${limitText(limit)}; make it shorter`;
}

async function parse(text: string): Promise<YamlText> {
  try {
    const read = await parseInTurns(text);
    if ('mistake' in read) return { problem: notYaml(read.mistake, read.place) };
    const { document, hasMore } = read;
    if (hasMore) return { problem: 'has more than one document; write only one, without ---' };
    const mistake = keyProblem(document) ?? wordProblem(document);
    if (mistake !== undefined) return { problem: mistake };
    const value: unknown = document.toJS({ maxAliasCount: limits.yamlRare.most });
    // First: what aliases make too large, or endless, takes too long for everything else.
    const problem = sizeProblem(value) ?? (isJson(value) ? undefined : NOT_JSON);
    return problem === undefined ? { value } : { problem };
  } catch (error) {
    return { problem: notYaml(error instanceof Error ? error.message : '') };
  }
}

/** The parser gives up at some thousand levels; `sizeProblem` counts those of shallower texts. */
const TOO_DEEP = `is nested more than ${limits.depth.most} levels deep; flatten it`;

function notYaml(mistake: string, place?: { line: number; column: number }): string {
  if (mistake.startsWith('Maximum call stack size')) return TOO_DEEP;
  if (mistake.startsWith('Excessive alias count'))
    return 'has aliases that stand for too many values; write the values out';
  const where = place === undefined ? '' : ` in line ${place.line}, column ${place.column}`;
  return `is not valid YAML${where}: ${quote(mistake)}; correct it`;
}

/** A YAML document, with whether another one follows, or its first mistake. */
type YamlDocument =
  | { document: Document.Parsed<ParsedNode>; hasMore: boolean }
  /** In the parser's words; the place is counted from 1, and missing where the parser knows none. */
  | { mistake: string; place?: { line: number; column: number } };

/** Between two looks at the clock. */
const LEXEMES = 100;

/**
 * Parses a text with one document. Reading its lexemes takes most of the time, and gives others their turn: a project may
 * write 5,000 lines that take a fifth of a second.
 */
async function parseInTurns(text: string): Promise<YamlDocument> {
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

/** Booleans in YAML 1.1, as kubectl and Helm read it, and texts in YAML 1.2. */
const BOOLEAN_ELSEWHERE = /^(?:yes|Yes|YES|on|On|ON|no|No|NO|off|Off|OFF)$/;

/** Returns what is wrong with the words of a document: `enabled: no` would be a text, which is true for a chart. */
function wordProblem(document: Document.Parsed<ParsedNode>): string | undefined {
  let problem: string | undefined;
  visit(document, {
    Scalar(role, { type, value }) {
      if (role === 'key' || type !== 'PLAIN' || typeof value !== 'string') return undefined;
      if (!BOOLEAN_ELSEWHERE.test(value)) return undefined;
      problem = `has ${value} without quotes, which kubectl and Helm read as a boolean; write true or false, or put it in quotes`;
      return visit.BREAK;
    },
  });
  return problem;
}
