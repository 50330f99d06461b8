import { LRUCache } from 'lru-cache';
import { type Document, isScalar, LineCounter, type ParsedNode, parseDocument, visit } from 'yaml';
import { isJson, NOT_JSON, quickly } from '../kube/parse-yaml.ts';
import { type Limit, limits, limitText, sizeProblem, TOO_DEEP } from './limits.ts';
import { quote } from './quote.ts';

/** A YAML document in a key of `flux-config`: its value, or what is wrong with it. */
export type YamlText = { value: unknown } | { problem: string };

/**
 * The texts of a project are read for each of its Shoots. Weighed in characters: a value takes up to thirty times as many
 * bytes, and a short one as many as a text of a thousand.
 */
const known = new LRUCache<string, YamlText>({ maxSize: 256 * 1024 });

/** Reads a YAML text, once for equal ones. */
export function readYamlText(text: string): YamlText {
  const tooMuch = lengthOfYamlProblem(text);
  if (tooMuch !== undefined) return { problem: tooMuch };
  const found = known.get(text) ?? parse(text);
  known.set(text, found, { size: text.length + 1000 });
  return found;
}

/** Returns why a text is not given to the parser. */
export function lengthOfYamlProblem(text: string): string | undefined {
  if (text.length > limits.yaml.most * 1024) return tooMany(limits.yaml);
  const rare = text.match(/[?!&*]/g)?.length ?? 0;
  return rare > limits.yamlRare.most ? tooMany(limits.yamlRare) : undefined;
}

function tooMany(limit: Limit): string {
  return `has more than ${limitText(limit)}; make it shorter`;
}

function parse(text: string): YamlText {
  try {
    const lineCounter = new LineCounter();
    const document = parseDocument(text, { ...quickly, prettyErrors: false, lineCounter });
    const [error] = document.errors;
    if (error?.code === 'MULTIPLE_DOCS') return { problem: 'has more than one document; write only one, without ---' };
    if (error !== undefined) return { problem: notYaml(error.message, lineCounter.linePos(error.pos[0])) };
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

/** @param place counted from 1, or 0 where the parser knows none */
function notYaml(mistake: string, place = { line: 0, col: 0 }): string {
  // The parser gives up at some thousand levels; `sizeProblem` counts those of shallower texts.
  if (mistake.startsWith('Maximum call stack size')) return TOO_DEEP;
  if (mistake.startsWith('Excessive alias count'))
    return 'has aliases that stand for too many values; write the values out';
  const where = place.line === 0 ? '' : ` in line ${place.line}, column ${place.col}`;
  return `is not valid YAML${where}: ${quote(mistake)}; correct it`;
}

/**
 * Returns what is wrong with the keys of a document: one is there twice, or merges. Merge keys inside each other take
 * the parser for ever, and without them `<<` would be a field that no API knows.
 */
export function keyProblem(document: Document.Parsed<ParsedNode>): string | undefined {
  let problem: string | undefined;
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<string>();
      for (const { key } of items) {
        const name = String(isScalar(key) ? key.value : key);
        if (seen.has(name)) problem = `has the key ${quote(name)} twice; remove one of them`;
        else if (name === '<<' && isScalar(key) && key.type === 'PLAIN')
          problem = 'has a merge key, <<, which is not supported; write the fields in its place';
        if (problem !== undefined) return visit.BREAK;
        seen.add(name);
      }
      return undefined;
    },
  });
  return problem;
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
