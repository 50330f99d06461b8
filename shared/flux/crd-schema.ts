import { duration } from '../config/checks.ts';
import { MOST_ISSUES_OF_A_PART } from '../config/limits.ts';
import { quote } from '../config/quote.ts';
import { lengthProblem, pathText, unknownKey, wrongType, wrongValue } from '../config/schema.ts';
import { isRecord } from '../shapes.ts';

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
  minimum?: number;
  minItems?: number;
  maxItems?: number;
  nullable?: boolean;
  default?: unknown;
  'x-kubernetes-validations'?: { rule: string; message?: string }[];
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  /** Says what else is wrong with a value of the type: for tables of our own, since CRDs have no functions. */
  check?: ((value: unknown) => string | undefined) | undefined;
}

/** A value that the API server would reject or silently drop. */
export interface SchemaProblem {
  path: string;
  message: string;
}

/** The path of a value, as keys and indices. */
export type Path = readonly (string | number)[];

/** What the checks of nested values share. */
interface Search {
  /** What does not know a key, such as ` in Flux v2.9.4`. */
  where: string;
  found: SchemaProblem[];
  root: CrdSchema;
  start: Path;
}

/**
 * Returns the first problems that the API server would have with a value. Checked before delivery, because afterwards
 * they are only an error of the resource-manager or, for a field that the CRD does not know, no error at all.
 * `object-rules.ts` evaluates the rules of the objects.
 * @param path the path of the value
 * @param release the Flux release of the CRD, for example `v2.9.4`; absent: the schema is not of a CRD
 */
export function schemaProblems(schema: CrdSchema, value: unknown, path: Path, release?: string): SchemaProblem[] {
  const where = release === undefined ? '' : ` in Flux ${release}`;
  const search: Search = { where, found: [], root: schema, start: path };
  check(schema, value, path, search);
  return search.found;
}

function check(schema: CrdSchema, value: unknown, path: Path, search: Search): void {
  if (isFull(search) || (value === null && schema.nullable === true)) return;
  const message =
    schema.type !== undefined && !hasType(value, schema.type)
      ? wrongType(schema.type, value)
      : (schema.check?.(value) ?? valueProblem(schema, value));
  if (message !== undefined) report(search, path, message);
  else if (Array.isArray(value)) checkList(schema, value, path, search);
  else if (typeof value === 'object' && value !== null) checkObject(schema, value, path, search);
}

/** A template may have thousands of wrong fields; each costs a search for the nearest name. */
function isFull({ found }: Search): boolean {
  return found.length >= MOST_ISSUES_OF_A_PART;
}

function report(search: Search, path: Path, message: string): void {
  if (!isFull(search)) search.found.push({ path: pathText(path), message });
}

function hasType(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  return type === 'object' ? isRecord(value) : typeof value === type;
}

function checkList(schema: CrdSchema, value: readonly unknown[], path: Path, search: Search): void {
  const { items, minItems = 0, maxItems } = schema;
  if (value.length < minItems) report(search, path, `has ${value.length} entries; use at least ${minItems}`);
  if (maxItems !== undefined && value.length > maxItems) {
    report(search, path, `has ${value.length} entries; use at most ${maxItems}`);
  }
  if (items === undefined) return;
  for (const [index, item] of value.entries()) {
    if (isFull(search)) return;
    check(items, item, [...path, index], search);
  }
}

function checkObject(schema: CrdSchema, value: object, path: Path, search: Search): void {
  for (const name of schema.required ?? []) {
    // The API server fills in defaults before it looks for required fields.
    const isGiven = Object.hasOwn(value, name) || schema.properties?.[name]?.default !== undefined;
    if (!isGiven) report(search, [...path, name], 'is missing; set it');
  }
  for (const [name, field] of Object.entries(value)) {
    if (isFull(search)) return;
    checkField(schema, name, field, [...path, name], search);
  }
}

function checkField(schema: CrdSchema, name: string, field: unknown, path: Path, search: Search): void {
  const { properties = {}, additionalProperties } = schema;
  const fieldSchema = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
  const isFree = fieldSchema === true || schema.properties === undefined;
  if (typeof fieldSchema === 'object') check(fieldSchema, field, path, search);
  else if (!isFree && schema['x-kubernetes-preserve-unknown-fields'] !== true)
    report(search, path, unknownField(schema, name, path, search));
}

/** Fields of former API versions, and what people call others -> the field that does the same. */
const renamed: Readonly<Record<string, string>> = {
  patchesStrategicMerge: 'patches',
  patchesJson6902: 'patches',
  valuesFile: 'valuesFiles',
  gitRepositoryRef: 'sourceRef',
  namespace: 'targetNamespace',
};

function unknownField(schema: CrdSchema, name: string, path: Path, search: Search): string {
  const { properties = {} } = schema;
  const now = Object.hasOwn(renamed, name) ? renamed[name] : undefined;
  return now !== undefined && Object.hasOwn(properties, now)
    ? `is not a known key${search.where}; use ${now} instead`
    : (misplaced(schema, name, path, search) ?? unknownKey(name, Object.keys(properties), search.where));
}

/** Every reference and all metadata have them, so a field of the same name is hardly meant. */
const COMMON: ReadonlySet<string> = new Set(['name', 'namespace', 'kind', 'apiVersion', 'labels', 'annotations']);

/** A field is often written one level too high or too low. Further away it may be another one with the same name. */
function misplaced(schema: CrdSchema, name: string, path: Path, { root, start }: Search): string | undefined {
  if (COMMON.has(name)) return undefined;
  const parent = path.slice(0, -1);
  const below = placesBelow(schema, name);
  const places =
    below.length > 0 ? below.map((place) => [...parent, ...place]) : placesAbove(root, start, name, parent);
  if (places.length === 0 || places.length > MOST_PLACES) return undefined;
  return `belongs to ${places.map((place) => pathText(place.slice(Math.max(0, start.length - 1)))).join(' or ')}; move it there`;
}

const MOST_PLACES = 2;

/** Returns the paths of a field in the objects of the next two levels, of the first level that has it. */
function placesBelow({ properties = {} }: CrdSchema, name: string, levels = 2): Path[] {
  const inner = Object.entries(properties).filter(([, field]) => field.properties !== undefined);
  const here = inner.filter(([, field]) => Object.hasOwn(field.properties ?? {}, name)).map(([field]) => [field, name]);
  if (here.length > 0 || levels === 1) return here;
  return inner.flatMap(([field, below]) => placesBelow(below, name, levels - 1).map((place) => [field, ...place]));
}

/** Returns the path of a field in the nearest object above that has it. */
function placesAbove(root: CrdSchema, start: Path, name: string, parent: Path): Path[] {
  for (let depth = parent.length - 1; depth >= start.length; depth -= 1) {
    const path = parent.slice(0, depth);
    const above = path
      .slice(start.length)
      .reduce<CrdSchema | undefined>(
        (schema, part) => (typeof part === 'number' ? schema?.items : schema?.properties?.[part]),
        root,
      );
    if (Object.hasOwn(above?.properties ?? {}, name)) return [[...path, name]];
  }
  return [];
}

function valueProblem(schema: CrdSchema, value: unknown): string | undefined {
  if (typeof value === 'object' && value !== null) return undefined;
  if (schema.enum !== undefined && !schema.enum.includes(value)) return wrongValue(value, schema.enum.map(String));
  if (typeof value === 'number' && schema.minimum !== undefined && value < schema.minimum) {
    return `${value} is too small; use at least ${schema.minimum}`;
  }
  return typeof value === 'string' ? textProblem(schema, value) : undefined;
}

function textProblem({ pattern, minLength = 0, maxLength }: CrdSchema, text: string): string | undefined {
  if (text.length < 2 * minLength || (maxLength !== undefined && text.length > maxLength)) {
    // The API server counts characters, not UTF-16 units.
    const length = [...text.slice(0, 2 * ((maxLength ?? minLength) + 1))].length;
    if (length < minLength) return `${quote(text)} is too short; use at least ${minLength} characters`;
    if (maxLength !== undefined && length > maxLength) {
      return `${quote(text)} is too long; use at most ${maxLength} characters`;
    }
  }
  if (pattern === undefined) return undefined;
  const tooLong = lengthProblem(text);
  if (tooLong !== undefined) return tooLong;
  if (new RegExp(pattern).test(text)) return undefined;
  if (DURATIONS.test(pattern)) return duration(text) ?? `${quote(text)} is not valid; use only the units m, s and ms`;
  const schemes = schemesOf(pattern);
  return `${quote(text)} is not valid; ${schemes === undefined ? `it must match ${pattern}` : `use a URL that begins with ${schemes}`}`;
}

/** The patterns of durations, of which some have no hours. */
const DURATIONS = /\(ms\|s\|m(?:\|h)?\)/;

/** Returns the schemes of URLs that a pattern such as `^(http|https)://.*$` asks for. */
function schemesOf(pattern: string): string | undefined {
  const [, one, several] = /^\^(?:(\w+)|\((\w+(?:\|\w+)*)\)):\/\/(?:\.\*\$?)?$/.exec(pattern) ?? [];
  const names = (several ?? one)?.split('|').map((name) => `${name}://`);
  return names && new Intl.ListFormat('en', { type: 'disjunction' }).format(names);
}
