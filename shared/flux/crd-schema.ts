import { pathText, unknownKey, wrongType, wrongValue } from '../config/issues.ts';
import { quote } from '../config/quote.ts';

/** The schema of one version of a CRD: the keywords that Flux's CRDs use for the fields that users set. */
export interface CrdSchema {
  type?: string;
  properties?: Record<string, CrdSchema>;
  required?: string[];
  additionalProperties?: boolean | CrdSchema;
  items?: CrdSchema;
  enum?: unknown[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  nullable?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
}

/** A value that the API server would reject or silently drop. */
export interface SchemaProblem {
  path: string;
  message: string;
}

type Path = readonly (string | number)[];

/**
 * Returns the problems that the API server would have with a value. Checked before delivery, because afterwards they are
 * only an error of the resource-manager or, for a field that the CRD does not know, no error at all. CEL rules are left
 * to the API server.
 * @param path the path of the value
 * @param release the Flux release of the CRD, for example `v2.9.4`
 */
export function schemaProblems(schema: CrdSchema, value: unknown, path: Path, release: string): SchemaProblem[] {
  const problem = (message: string, at: Path = path): SchemaProblem[] => [{ path: pathText(at), message }];
  if (value === null && schema.nullable === true) return [];
  if (schema.type !== undefined && !hasType(value, schema.type)) return problem(wrongType(schema.type, value));
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined
      ? []
      : value.flatMap((item, index) => schemaProblems(items, item, [...path, index], release));
  }
  if (typeof value === 'object' && value !== null) return objectProblems(schema, value, path, release);
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    return problem(wrongValue(value, schema.enum.map(String)));
  }
  const message = typeof value === 'string' ? textProblem(schema, value) : undefined;
  return message === undefined ? [] : problem(message);
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function objectProblems(schema: CrdSchema, value: object, path: Path, release: string): SchemaProblem[] {
  const fields = new Map(Object.entries(value));
  const missing = (schema.required ?? [])
    .filter((name) => !fields.has(name))
    .map((name) => ({ path: pathText([...path, name]), message: 'is missing; set it' }));
  const wrong = [...fields].flatMap(([name, field]) => fieldProblems(schema, name, field, [...path, name], release));
  return [...missing, ...wrong];
}

function fieldProblems(schema: CrdSchema, name: string, field: unknown, path: Path, release: string): SchemaProblem[] {
  const { properties = {}, additionalProperties } = schema;
  const fieldSchema = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
  if (typeof fieldSchema === 'object') return schemaProblems(fieldSchema, field, path, release);
  const isFree = fieldSchema === true || schema.properties === undefined;
  if (isFree || schema['x-kubernetes-preserve-unknown-fields'] === true) return [];
  return [{ path: pathText(path), message: unknownKey(name, Object.keys(properties), ` in Flux ${release}`) }];
}

function textProblem({ pattern, minLength = 0, maxLength }: CrdSchema, text: string): string | undefined {
  // The API server counts characters, not UTF-16 units.
  const length = [...text].length;
  if (length < minLength) return `${quote(text)} is too short; use at least ${minLength} characters`;
  if (maxLength !== undefined && length > maxLength) {
    return `${quote(text)} is too long; use at most ${maxLength} characters`;
  }
  return pattern === undefined || new RegExp(pattern).test(text)
    ? undefined
    : `${quote(text)} is not valid; it must match ${pattern}`;
}
