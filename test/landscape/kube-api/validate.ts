import { type FieldError, fieldError } from './errors.ts';
import { equal, isObject, type Json, type JsonObject } from './json.ts';
import { childSchema, type Schema } from './schema.ts';

const preserves = (schema: Schema) => schema['x-kubernetes-preserve-unknown-fields'] === true;
const intOrString = (schema: Schema) =>
  schema['x-kubernetes-int-or-string'] === true || schema.format === 'int-or-string';

/** Returns the value without fields that the schema does not have; calls `onUnknown` for each. */
export function prune(schema: Schema, value: Json, onUnknown: (path: string) => void = () => {}, path = ''): Json {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return value;
    let changed = false;
    const result = value.map((item, index) => {
      const kept = prune(items, item, onUnknown, `${path}[${index}]`);
      changed ||= kept !== item;
      return kept;
    });
    return changed ? result : value;
  }
  if (!isObject(value)) return value;
  const open = preserves(schema) || schema.additionalProperties === true;
  let result: JsonObject | undefined;
  for (const key in value) {
    const child = value[key];
    if (child === undefined) continue;
    const known =
      childSchema(schema, key) ?? (schema['x-kubernetes-embedded-resource'] === true ? embeddedFields[key] : undefined);
    const at = path === '' ? key : `${path}.${key}`;
    if (known !== undefined) {
      const kept = prune(known, child, onUnknown, at);
      if (kept !== child) result = { ...(result ?? value), [key]: kept };
    } else if (!open) {
      onUnknown(at);
      result = result ?? { ...value };
      delete result[key];
    }
  }
  return result ?? value;
}

const open: Schema = { 'x-kubernetes-preserve-unknown-fields': true };
const embeddedFields: Record<string, Schema> = { apiVersion: open, kind: open, metadata: open };

/** Returns the value with the defaults of the schema. */
export function withDefaults(schema: Schema, value: Json): Json {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return value;
    let changed = false;
    const result = value.map((item) => {
      const filled = item === null && items.default !== undefined && !items.nullable ? items.default : item;
      const kept = withDefaults(items, filled);
      changed ||= kept !== item;
      return kept;
    });
    return changed ? result : value;
  }
  if (!isObject(value)) return value;
  let result: JsonObject = value;
  for (const [key, child] of Object.entries(schema.properties ?? {})) {
    const current = result[key];
    // With a default, a null that is not allowed counts as absent.
    const missing = current === undefined || (current === null && child.nullable !== true);
    if (missing && child.default !== undefined) result = { ...result, [key]: child.default };
    const chosen = result[key];
    if (chosen === undefined) continue;
    const filled = withDefaults(child, chosen);
    if (filled !== chosen) result = { ...result, [key]: filled };
  }
  if (typeof schema.additionalProperties === 'object') {
    for (const [key, child] of Object.entries(result)) {
      if (child === undefined || schema.properties?.[key] !== undefined) continue;
      const filled = withDefaults(schema.additionalProperties, child);
      if (filled !== child) result = { ...result, [key]: filled };
    }
  }
  return result;
}

/** Drops nulls that the schema does not allow, as for every custom resource. */
export function withoutNulls(schema: Schema, value: Json): Json {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((item) => withoutNulls(items, item));
  }
  if (!isObject(value)) return value;
  let result: JsonObject = value;
  for (const [key, child] of Object.entries(value)) {
    const known = childSchema(schema, key);
    if (known === undefined || child === undefined) continue;
    if (child === null) {
      if (known.nullable === true) continue;
      const { [key]: _, ...rest } = result;
      result = rest;
    } else {
      const kept = withoutNulls(known, child);
      if (kept !== child) result = { ...result, [key]: kept };
    }
  }
  return result;
}

function typeName(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function hasType(schema: Schema, value: Json): boolean {
  if (intOrString(schema)) return typeof value === 'string' || Number.isInteger(value);
  switch (schema.type) {
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return typeof value === 'number';
    case 'object':
      return isObject(value);
    case 'array':
      return Array.isArray(value);
    case 'string':
      return typeof value === 'string';
    case 'boolean':
      return typeof value === 'boolean';
    default:
      return true;
  }
}

const patterns = new Map<string, RegExp>();

function pattern(text: string): RegExp {
  let known = patterns.get(text);
  if (known === undefined) {
    known = new RegExp(text.replaceAll('\\z', '$').replaceAll('\\A', '^'), 'u');
    patterns.set(text, known);
  }
  return known;
}

/** Validates a value; `old` is needed for immutable fields. */
export function schemaErrors(schema: Schema, value: Json, path: string, old?: Json): FieldError[] {
  const errors: FieldError[] = [];
  check(schema, value, path, old, errors);
  return errors;
}

function check(schema: Schema, value: Json, path: string, old: Json | undefined, errors: FieldError[]): void {
  if (value === null) {
    if (schema.nullable === true || schema.type === undefined) return;
    errors.push(fieldError.type(path, 'null', schema.type));
    return;
  }
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
  checkCombinations(schema, value, path, errors);
  if (old !== undefined && !equal(old, value)) {
    for (const { rule, message } of schema['x-kubernetes-validations'] ?? []) {
      if (/^\s*self\s*==\s*oldSelf\s*$/.test(rule)) {
        errors.push(fieldError.invalid(path, value, message ?? `failed rule: ${rule}`));
      }
    }
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
    errors.push({
      field: path,
      reason: 'FieldValueTypeInvalid',
      message: `Invalid value: ${JSON.stringify(value)}: ${path} in body must be of type date-time: ${JSON.stringify(value)}`,
    });
  }
}

function checkNumber(schema: Schema, value: number, path: string, errors: FieldError[]): void {
  const { minimum, maximum, multipleOf } = schema;
  if (minimum !== undefined && (schema.exclusiveMinimum ? value <= minimum : value < minimum)) {
    const relation = schema.exclusiveMinimum ? 'greater than' : 'greater than or equal to';
    errors.push(fieldError.invalid(path, value, `${path} in body should be ${relation} ${minimum}`));
  }
  if (maximum !== undefined && (schema.exclusiveMaximum ? value >= maximum : value > maximum)) {
    const relation = schema.exclusiveMaximum ? 'less than' : 'less than or equal to';
    errors.push(fieldError.invalid(path, value, `${path} in body should be ${relation} ${maximum}`));
  }
  if (multipleOf !== undefined && value % multipleOf !== 0) {
    errors.push(fieldError.invalid(path, value, `${path} in body should be a multiple of ${multipleOf}`));
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
  checkDuplicates(schema, value, path, errors);
  if (items === undefined) return;
  value.forEach((item, index) => {
    check(items, item, `${path}[${index}]`, oldItem(schema, item, old), errors);
  });
}

/** Finds the old item with the same keys in a list map; other lists have no old items. */
function oldItem(schema: Schema, item: Json, old: Json | undefined): Json | undefined {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (schema['x-kubernetes-list-type'] !== 'map' || keys === undefined || !Array.isArray(old)) return undefined;
  return old.find((other) => isObject(other) && isObject(item) && keys.every((key) => equal(other[key], item[key])));
}

function checkDuplicates(schema: Schema, value: Json[], path: string, errors: FieldError[]): void {
  const type = schema['x-kubernetes-list-type'];
  if (type !== 'set' && type !== 'map') return;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const seen = new Set<string>();
  value.forEach((item, index) => {
    const key = type === 'set' || !isObject(item) ? item : Object.fromEntries(keys.map((name) => [name, item[name]]));
    const text = JSON.stringify(key);
    if (seen.has(text)) errors.push(fieldError.duplicate(`${path}[${index}]`, key));
    seen.add(text);
  });
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
  const before = isObject(old) ? old : undefined;
  let size = 0;
  for (const key in value) {
    const child = value[key];
    if (child === undefined) continue;
    size++;
    const known = childSchema(schema, key);
    if (known !== undefined) check(known, child, at(key), before?.[key], errors);
  }
  if (schema.maxProperties !== undefined && size > schema.maxProperties) {
    errors.push(fieldError.tooMany(path, size, schema.maxProperties));
  }
  if (schema.minProperties !== undefined && size < schema.minProperties) {
    errors.push(
      fieldError.invalid(path, size, `${path} in body should have at least ${schema.minProperties} properties`),
    );
  }
}

function checkCombinations(schema: Schema, value: Json, path: string, errors: FieldError[]): void {
  const passes = (part: Schema) => schemaErrors(part, value, path).length === 0;
  for (const part of schema.allOf ?? []) check(part, value, path, undefined, errors);
  if (schema.anyOf && !intOrString(schema) && !schema.anyOf.some(passes)) {
    errors.push(fieldError.invalid(path, '', `${path} in body must validate at least one schema (anyOf)`));
  }
  if (schema.oneOf && schema.oneOf.filter(passes).length !== 1) {
    errors.push(fieldError.invalid(path, '', `${path} in body must validate one and only one schema (oneOf)`));
  }
  if (schema.not && passes(schema.not)) {
    errors.push(fieldError.invalid(path, '', `${path} in body must not validate the schema (not)`));
  }
}
