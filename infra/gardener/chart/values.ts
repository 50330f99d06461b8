import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml';
import { ShootFluxError } from '../../../shared/errors.ts';

/** One value of a chart, from its values.yaml. */
export interface ChartValue {
  /** Keys from the root, for example `['image', 'tag']`. */
  path: string[];
  /** The comment above the key. */
  description: string;
  default: unknown;
  /** What `# @schema {…}` adds to the value's JSON Schema. */
  schema: Record<string, unknown>;
  /** The keys of an object that is described elsewhere, by their path below the value. */
  keys?: { path: string; description: string; default: string }[];
}

/** Begins a comment line that is part of the schema rather than of the description. */
const SCHEMA = '@schema ';

/**
 * Reads the values of a chart. A key with a comment is one value; a key without a comment holds others.
 * @throws ShootFluxError for a key that is not described
 */
export function chartValues(yaml: string): ChartValue[] {
  const { contents } = parseDocument(yaml);
  return isMap(contents) ? valuesIn(contents, []) : [];
}

function valuesIn(map: YAMLMap, parents: string[]): ChartValue[] {
  return map.items.flatMap((pair, index) => {
    const path = [...parents, keyOf(pair)];
    // The parser gives the comment above the first key of an inner map to the map.
    const comment = commentOf(pair.key) ?? (index === 0 && parents.length > 0 ? map.commentBefore : undefined);
    const { value } = pair;
    if (comment) return [{ path, ...parts(comment), default: isJson(value) ? value.toJSON() : value }];
    if (isMap(value) && value.items.length > 0) return valuesIn(value, path);
    throw new ShootFluxError(`values.yaml: ${path.join('.')} has no comment; describe it in the lines above.`);
  });
}

function parts(comment: string): Pick<ChartValue, 'description' | 'schema'> {
  // A paragraph before belongs to the file.
  const lines = (comment.split(/\n\s*\n/).at(-1) ?? '').split('\n').map((line) => line.trim());
  const schemas = lines.filter((line) => line.startsWith(SCHEMA)).map((line) => JSON.parse(line.slice(SCHEMA.length)));
  const description = lines.filter((line) => !line.startsWith(SCHEMA)).join(' ');
  return { description, schema: Object.assign({}, ...schemas) };
}

const keyOf = ({ key }: Pair): string => (isScalar(key) ? String(key.value) : String(key));
const commentOf = (node: unknown) => (isScalar(node) ? node.commentBefore : undefined);
const isJson = (value: unknown): value is { toJSON(): unknown } =>
  typeof value === 'object' && value !== null && 'toJSON' in value;
