import type * as z from 'zod/mini';
import type { ConfigIssue } from '../errors.ts';
import { nearest } from './nearest.ts';
import { quote, typeName } from './quote.ts';
import { keyDocs, shapeOf } from './schema.ts';

type Path = readonly PropertyKey[];

/** `additionalSecretResources[0].name`; keys that are no words, which anything may be, are quoted. */
export function pathText(path: Path): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    const key = String(part);
    const shown = /^[^\s\p{C}]{1,80}$/u.test(key) ? key : quote(key);
    return text === '' ? shown : `${text}.${shown}`;
  }, '');
}

/** Who has so much wrong mends this first. */
const MOST = 20;

/**
 * What a schema finds wrong with a value, each with its own sentence: everything, where it is not very much.
 * @param object how the user knows the object, for example `providerConfig`
 * @param prefix where in the object the value is
 */
export function schemaIssues(object: string, schema: z.ZodMiniType, value: unknown, prefix: Path = []): ConfigIssue[] {
  const result = schema.safeParse(value);
  if (result.success) return [];
  return result.error.issues.slice(0, MOST).flatMap((issue) =>
    sentences(issue, schema, value).map(({ path, message }) => ({
      object,
      path: pathText([...prefix, ...issue.path, ...path]),
      message,
    })),
  );
}

interface Sentence {
  path: Path;
  message: string;
}

function sentences(issue: z.core.$ZodIssue, schema: z.ZodMiniType, value: unknown): Sentence[] {
  const at = valueAt(value, issue.path);
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = knownKeys(schema, issue.path);
      return issue.keys.slice(0, MOST).map((unknown) => ({ path: [unknown], message: unknownKey(unknown, known) }));
    }
    case 'invalid_type':
      return [{ path: [], message: at === undefined ? missing(schema, issue.path) : wrongType(issue.expected, at) }];
    case 'invalid_value':
      return [{ path: [], message: wrongValue(at, issue.values.map(String)) }];
    default:
      return [{ path: [], message: issue.message }];
  }
}

function missing(schema: z.core.$ZodType, path: Path): string {
  const field = schemaAt(schema, path);
  const example = field === undefined ? undefined : keyDocs.get(field)?.example;
  return example === undefined ? 'is missing; set it' : `is missing; set it, for example ${example}`;
}

/**
 * The sentence for a key that nobody reads.
 * @param whose says who should know it, where that is not clear
 */
export function unknownKey(key: string, known: readonly string[], whose = ''): string {
  const meant = nearest(key, known);
  return meant === undefined
    ? `is not a known key${whose}; known keys are ${known.join(', ')}`
    : `is not a known key${whose}; did you mean ${meant}?`;
}

/** The sentence for a value of another type than the JSON type that is expected. */
export function wrongType(expected: string, value: unknown): string {
  if (expected === 'string') return `must be a string, not ${a(typeName(value))}; put it in quotes`;
  if (expected === 'boolean')
    return `must be true or false without quotes, not ${typeof value === 'string' ? quote(value) : a(typeName(value))}`;
  if (expected === 'array') return `must be a list, not ${a(typeName(value))}; start each entry with "- "`;
  if (expected === 'integer')
    return `must be an integer, not ${typeof value === 'number' ? value : a(typeName(value))}`;
  return `must be an object, not ${a(typeName(value))}`;
}

/** The sentence for a value that is none of the possible ones. */
export function wrongValue(value: unknown, values: readonly string[]): string {
  if (value !== undefined && typeof value !== 'string') return wrongType('string', value);
  const choice = values.length === 1 ? values[0] : `one of ${values.join(', ')}`;
  if (value === undefined) return `is missing; use ${choice}`;
  const meant = values.length === 1 ? undefined : nearest(value, values);
  return `${quote(value)} is not a valid value; ${meant === undefined ? `use ${choice}` : `did you mean ${meant}?`}`;
}

function a(noun: string): string {
  return noun === 'null' ? noun : /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, part) =>
      typeof inner === 'object' && inner !== null ? (inner as Record<PropertyKey, unknown>)[part] : undefined,
    value,
  );
}

/** The keys that a schema knows at a path. */
function knownKeys(schema: z.core.$ZodType, path: Path): string[] {
  const inner = schemaAt(schema, path);
  return inner === undefined ? [] : Object.keys(shapeOf(inner) ?? {});
}

function schemaAt(schema: z.core.$ZodType, path: Path): z.core.$ZodType | undefined {
  return path.reduce<z.core.$ZodType | undefined>(
    // The entries of a list have the shape that `shapeOf` shows for the list.
    (inner, part) => (inner === undefined || typeof part === 'number' ? inner : shapeOf(inner)?.[String(part)]),
    schema,
  );
}
