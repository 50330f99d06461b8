import { type FieldError, fieldError } from './errors.ts';
import { equal, isObject, type Json } from './json.ts';
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

/**
 * Validates types, required fields and enumerations: what a CRD asks beyond that is for real API servers to check.
 * @param errors gets what is found, and is returned
 */
export function schemaErrors(schema: Schema, value: Json, path: string, errors: FieldError[] = []): FieldError[] {
  if (value === null && (schema.nullable === true || schema.type === undefined)) return errors;
  if (!hasType(schema, value)) {
    errors.push(fieldError.type(path, typeName(value), schema.type ?? 'integer,string'));
    return errors;
  }
  if (schema.enum && !schema.enum.some((allowed) => equal(allowed, value))) {
    errors.push(fieldError.unsupported(path, value, schema.enum));
  }
  const { items, required = [] } = schema;
  if (Array.isArray(value) && items !== undefined) {
    for (const [index, item] of value.entries()) schemaErrors(items, item, `${path}[${index}]`, errors);
  }
  if (!isObject(value)) return errors;
  const at = (key: string) => (path === '' ? key : `${path}.${key}`);
  for (const key of required) if (value[key] === undefined) errors.push(fieldError.required(at(key)));
  for (const [key, child] of Object.entries(value)) {
    const known = childSchema(schema, key);
    if (known !== undefined && child !== undefined) schemaErrors(known, child, at(key), errors);
  }
  return errors;
}
