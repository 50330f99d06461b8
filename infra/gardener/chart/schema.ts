import type { ChartValue } from './values.ts';

type Schema = Record<string, unknown>;

/**
 * Generates a chart's values.schema.json: types follow from the defaults, and unknown keys are errors, so that a typo
 * is reported instead of ignored.
 * @param definitions schemas that those of the values refer to
 */
export function valuesSchema(values: ChartValue[], definitions: Schema = {}): string {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...objectOf(values, 0),
    ...(Object.keys(definitions).length > 0 && { definitions }),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function objectOf(values: ChartValue[], depth: number): Schema {
  const names = [...new Set(values.map(({ path }) => path[depth] ?? ''))];
  const properties = names.map((name): [string, Schema] => {
    const below = values.filter(({ path }) => path[depth] === name);
    const [only] = below;
    const isLeaf = below.length === 1 && only?.path.length === depth + 1;
    return [name, isLeaf && only !== undefined ? leaf(only) : objectOf(below, depth + 1)];
  });
  // Helm adds `global`; a parent chart's values arrive there.
  const global = depth === 0 ? { global: { type: 'object' } } : {};
  return { type: 'object', additionalProperties: false, properties: { ...Object.fromEntries(properties), ...global } };
}

function leaf({ description, schema, default: value }: ChartValue): Schema {
  // Beside a reference, everything else is ignored.
  if ('$ref' in schema) return schema;
  return { description, ...('type' in schema || 'enum' in schema ? {} : { type: typeOf(value) }), ...schema };
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return 'integer';
  return value === null ? 'object' : typeof value;
}
