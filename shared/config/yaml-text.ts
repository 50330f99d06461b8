import { createRecentlyUsed } from '../recently-used.ts';
import type { YamlText } from './document-types.ts';
import { limits, limitText } from './limits.ts';
import { quote } from './quote.ts';
import { sizeProblem } from './size-limit.ts';

/**
 * The texts of a project are read for each of its Shoots. Weighed in characters: a value takes up to thirty times as many
 * bytes, and a short one as many as a text of a thousand.
 */
const known = createRecentlyUsed<Promise<YamlText>>(256 * 1024);

/** Reads a YAML text, once for equal ones. The parser is loaded only for the first. */
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
  const { isJson, NOT_JSON } = await import('../kube/parse-yaml.ts');
  const { parseInTurns } = await import('./yaml-document.ts');
  const { keyProblem } = await import('./yaml-keys.ts');
  const { wordProblem } = await import('./yaml-words.ts');
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
