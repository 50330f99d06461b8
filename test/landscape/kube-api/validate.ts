import { type FieldError, fieldError } from './errors.ts';
import { equal, isObject, type Json, type JsonObject } from './json.ts';
import { childSchema, type Schema } from './schema.ts';

const intOrString = (schema: Schema) =>
  schema['x-kubernetes-int-or-string'] === true || schema.format === 'int-or-string';

/** Returns the value with other children; undefined: the child goes. Without a change it is the value itself. */
function mapChildren(value: Json, change: (child: Json, key: string) => Json | undefined): Json {
  if (Array.isArray(value)) {
    const items = value.map((item, index) => change(item, `[${index}]`) ?? null);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isObject(value)) return value;
  let result = value;
  for (const [key, child] of Object.entries(value)) {
    if (child === undefined) continue;
    const next = change(child, key);
    if (next === child) continue;
    result = { ...result };
    if (next === undefined) delete result[key];
    else result[key] = next;
  }
  return result;
}

/** Returns the schema of a child; undefined: it has none. */
const schemaOf = (schema: Schema, value: Json, key: string) =>
  Array.isArray(value) ? schema.items : childSchema(schema, key);

/** Returns the value without fields that the schema does not have; calls `onUnknown` for each. */
export function prune(schema: Schema, value: Json, onUnknown: (path: string) => void = () => {}, path = ''): Json {
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true;
  return mapChildren(value, (child, key) => {
    const known = schemaOf(schema, value, key);
    const at = Array.isArray(value) ? `${path}${key}` : path === '' ? key : `${path}.${key}`;
    if (known !== undefined) return prune(known, child, onUnknown, at);
    if (open || Array.isArray(value)) return child;
    onUnknown(at);
    return undefined;
  });
}

/** Returns the value of a custom resource without the nulls that its schema does not allow, and with its defaults. */
export function withDefaults(schema: Schema, value: Json): Json {
  const filled = isObject(value) ? { ...value } : value;
  if (isObject(filled)) {
    for (const [key, { default: fallback, nullable }] of Object.entries(schema.properties ?? {})) {
      if (filled[key] === null && nullable !== true) delete filled[key];
      if (filled[key] === undefined && fallback !== undefined) filled[key] = fallback;
    }
  }
  return mapChildren(filled, (child, key) => {
    const known = schemaOf(schema, filled, key);
    if (known === undefined) return child;
    return child === null && known.nullable !== true ? undefined : withDefaults(known, child);
  });
}

function typeName(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function hasType(schema: Schema, value: Json): boolean {
  const name = typeName(value);
  if (intOrString(schema)) return name === 'string' || name === 'integer';
  return schema.type === undefined || schema.type === name || (schema.type === 'number' && name === 'integer');
}

const patterns = new Map<string, RegExp>();

function pattern(text: string): RegExp {
  const known = patterns.get(text) ?? new RegExp(text.replaceAll('\\z', '$').replaceAll('\\A', '^'), 'u');
  patterns.set(text, known);
  return known;
}

/**
 * Validates a value against the keywords that the CRDs of Gardener and Flux use; `old` is needed for immutable fields,
 * whose rule is the only one in CEL that is understood.
 */
export function schemaErrors(schema: Schema, value: Json, path: string, old?: Json): FieldError[] {
  const errors: FieldError[] = [];
  check(schema, value, path, old, errors);
  return errors;
}

function check(schema: Schema, value: Json, path: string, old: Json | undefined, errors: FieldError[]): void {
  if (value === null && (schema.nullable === true || schema.type === undefined)) return;
  if (!hasType(schema, value)) {
    errors.push(fieldError.type(path, typeName(value), schema.type ?? 'integer,string'));
    return;
  }
  if (schema.enum && !schema.enum.some((allowed) => equal(allowed, value))) {
    errors.push(fieldError.unsupported(path, value, schema.enum));
  }
  if (typeof value === 'string') checkString(schema, value, path, errors);
  else if (typeof value === 'number') checkNumber(schema, value, path, errors);
  else if (Array.isArray(value)) checkArray(schema, value, path, old, errors);
  else if (isObject(value)) checkObject(schema, value, path, old, errors);
  if (old === undefined || equal(old, value)) return;
  for (const { rule, message } of schema['x-kubernetes-validations'] ?? []) {
    if (!/^\s*self\s*==\s*oldSelf\s*$/.test(rule)) continue;
    errors.push(fieldError.invalid(path, value, message ?? `failed rule: ${rule}`));
  }
}

function checkString(schema: Schema, value: string, path: string, errors: FieldError[]): void {
  const length = [...value].length;
  if (schema.minLength !== undefined && length < schema.minLength) {
    errors.push(fieldError.invalid(path, value, `${path} in body should be at least ${schema.minLength} chars long`));
  }
  if (schema.maxLength !== undefined && length > schema.maxLength) {
    errors.push(fieldError.tooLong(path, schema.maxLength));
  }
  if (schema.pattern !== undefined && !pattern(schema.pattern).test(value)) {
    errors.push(fieldError.invalid(path, value, `${path} in body should match '${schema.pattern}'`));
  }
  if (schema.format === 'date-time' && Number.isNaN(Date.parse(value))) {
    errors.push(fieldError.type(path, value, 'date-time'));
  }
}

function checkNumber({ minimum, maximum }: Schema, value: number, path: string, errors: FieldError[]): void {
  if (minimum !== undefined && value < minimum) {
    errors.push(fieldError.invalid(path, value, `${path} in body should be greater than or equal to ${minimum}`));
  }
  if (maximum !== undefined && value > maximum) {
    errors.push(fieldError.invalid(path, value, `${path} in body should be less than or equal to ${maximum}`));
  }
}

function checkArray(schema: Schema, value: Json[], path: string, old: Json | undefined, errors: FieldError[]): void {
  const { minItems, maxItems, items } = schema;
  if (minItems !== undefined && value.length < minItems) {
    errors.push(fieldError.invalid(path, value.length, `${path} in body should have at least ${minItems} items`));
  }
  if (maxItems !== undefined && value.length > maxItems) {
    errors.push(fieldError.tooMany(path, value.length, maxItems));
  }
  const keysOf = mapKeys(schema);
  const seen = new Set<string>();
  value.forEach((item, index) => {
    const key = keysOf?.(item);
    if (key !== undefined && seen.has(key)) errors.push(fieldError.duplicate(`${path}[${index}]`, JSON.parse(key)));
    if (key !== undefined) seen.add(key);
    // Items have an old state only in a list map.
    const before = key === undefined || !Array.isArray(old) ? undefined : old.find((other) => keysOf?.(other) === key);
    if (items !== undefined) check(items, item, `${path}[${index}]`, before, errors);
  });
}

/** Returns what identifies an item of a list map; undefined for other lists. */
function mapKeys(schema: Schema): ((item: Json) => string) | undefined {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (schema['x-kubernetes-list-type'] !== 'map' || keys === undefined) return undefined;
  return (item) => JSON.stringify(Object.fromEntries(keys.map((name) => [name, isObject(item) ? item[name] : null])));
}

function checkObject(
  schema: Schema,
  value: JsonObject,
  path: string,
  old: Json | undefined,
  errors: FieldError[],
): void {
  const at = (key: string) => (path === '' ? key : `${path}.${key}`);
  for (const key of schema.required ?? []) {
    if (value[key] === undefined) errors.push(fieldError.required(at(key)));
  }
  for (const [key, child] of Object.entries(value)) {
    const known = childSchema(schema, key);
    if (known === undefined || child === undefined) continue;
    check(known, child, at(key), isObject(old) ? old[key] : undefined, errors);
  }
}
