import { ApiError } from '../errors.ts';
import { type ApiObject, isObject, type Json } from '../json.ts';
import { childSchema, type Schema } from '../schema.ts';

/** Rejects an applied object with fields or types that its schema does not have: field ownership needs both. */
export function checkTyped(schema: Schema, object: ApiObject): void {
  const problems: string[] = [];
  walk(schema, object, '', problems);
  if (problems.length === 0) return;
  const [first] = problems;
  const text = problems.length === 1 ? first : `errors:\n${problems.map((problem) => `  ${problem}`).join('\n')}`;
  const { namespace = '', name } = object.metadata;
  throw new ApiError(
    500,
    '',
    `failed to create typed patch object (${namespace}/${name}; ${object.apiVersion}, Kind=${object.kind}): ${text}`,
  );
}

function walk(schema: Schema | undefined, value: Json, path: string, problems: string[]): void {
  if (schema === undefined || value === null) return;
  const expected = mismatch(schema, value);
  if (expected !== undefined) {
    problems.push(`${path}: expected ${expected}, got ${shown(value)}`);
    return;
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    value.forEach((item, index) => {
      walk(items, item, `${path}[${index}]`, problems);
    });
  } else if (isObject(value)) {
    const open = schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true;
    const closed = !open && schema.properties !== undefined && schema.additionalProperties === undefined;
    for (const [key, child] of Object.entries(value)) {
      if (child === undefined) continue;
      const known = childSchema(schema, key);
      if (known !== undefined) walk(known, child, `${path}.${key}`, problems);
      else if (closed) problems.push(`${path}.${key}: field not declared in schema`);
    }
  }
}

function mismatch(schema: Schema, value: Json): string | undefined {
  if (schema['x-kubernetes-int-or-string'] === true || schema.format === 'int-or-string') return undefined;
  switch (schema.type) {
    case 'integer':
    case 'number':
      return typeof value === 'number' ? undefined : 'numeric (int or float)';
    case 'string':
      return typeof value === 'string' ? undefined : 'string';
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'boolean';
    case 'array':
      return Array.isArray(value) ? undefined : 'list';
    case 'object':
      return isObject(value) ? undefined : 'map';
    default:
      return undefined;
  }
}

function shown(value: Json): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return typeof value;
  return Array.isArray(value) ? 'list' : 'map';
}
