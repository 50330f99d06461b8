import type * as z from 'zod/mini';
import type { ConfigIssue } from '../errors.ts';
import { MOST_ISSUES_OF_A_PART } from './limits.ts';
import { nearest } from './nearest.ts';
import { issueAt, type Place } from './place.ts';
import { quote, typeName } from './quote.ts';
import { keyDocs, shapeOf } from './schema.ts';

type Path = readonly PropertyKey[];

/** Sixty levels with keys of 80 characters each would fill a status. */
const LONGEST_PATH = 300;

/**
 * Formats a path: `additionalSecretResources[0].name`. Keys with white space or of great length are quoted, and the end
 * of a very long path is left out.
 */
export function pathText(path: Path): string {
  let text = '';
  for (const part of path) {
    if (text.length > LONGEST_PATH) return `${text}...`;
    text += partText(part, text === '');
  }
  return text;
}

function partText(part: PropertyKey, isFirst: boolean): string {
  if (typeof part === 'number') return `[${part}]`;
  const key = String(part);
  const shown = /^[^\s\p{C}]{1,80}$/u.test(key) ? key : quote(key);
  return isFirst ? shown : `.${shown}`;
}

/**
 * Returns the issues that a schema finds in a value, each with its own sentence.
 * @param place the name of the object in errors, for example `providerConfig`, or a part of it
 * @param prefix the path of the value at that place
 */
export function schemaIssues(
  place: string | Place,
  schema: z.ZodMiniType,
  value: unknown,
  prefix: Path = [],
): ConfigIssue[] {
  const start = typeof place === 'string' ? { object: place, path: '' } : place;
  const result = schema.safeParse(value);
  if (result.success) return [];
  return result.error.issues
    .slice(0, MOST_ISSUES_OF_A_PART)
    .flatMap((issue) =>
      sentences(issue, schema, value).map(({ path, message }) =>
        issueAt(start, pathText([...prefix, ...issue.path, ...path]), message),
      ),
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
      return issue.keys
        .slice(0, MOST_ISSUES_OF_A_PART)
        .map((unknown) => ({ path: [unknown], message: unknownKey(unknown, known) }));
    }
    case 'invalid_type':
      return [{ path: [], message: invalidType(issue.expected, at, exampleAt(schema, issue.path)) }];
    case 'invalid_value':
      return [{ path: [], message: wrongValue(at, issue.values.map(String)) }];
    default:
      return [{ path: [], message: issue.message }];
  }
}

function invalidType(expected: string, value: unknown, example: string | undefined): string {
  if (value !== undefined) return wrongType(expected, value, example);
  return example === undefined ? 'is missing; set it' : `is missing; set it, for example ${example}`;
}

function exampleAt(schema: z.core.$ZodType, path: Path): string | undefined {
  const field = schemaAt(schema, path);
  return field === undefined ? undefined : keyDocs.get(field)?.example;
}

/**
 * Returns the sentence for an unknown key.
 * @param where what does not know the key, if that is unclear, for example ` in Flux v2.9.4`
 */
export function unknownKey(key: string, known: readonly string[], where = ''): string {
  const suggestion = nearest(key, known);
  return suggestion === undefined
    ? `is not a known key${where}; known keys are ${known.join(', ')}`
    : `is not a known key${where}; did you mean ${suggestion}?`;
}

/** Returns the sentence for a value that does not have the expected JSON type. @param example a correct value */
export function wrongType(expected: string, value: unknown, example?: string): string {
  if (expected === 'string' && value === null) return 'must be a string, not null; write its value';
  if (expected === 'string') {
    // Quotes around a list or an object would make a text that no key understands.
    const asText = example === undefined ? 'write a single value' : `write for example ${example}`;
    return `must be a string, not ${withArticle(typeName(value))}; ${typeof value === 'object' ? asText : 'put it in quotes'}`;
  }
  if (expected === 'boolean')
    return `must be true or false without quotes, not ${typeof value === 'string' ? quote(value) : withArticle(typeName(value))}`;
  if (expected === 'array') return `must be a list, not ${withArticle(typeName(value))}; start each entry with "- "`;
  if (expected === 'integer')
    return `must be an integer, not ${typeof value === 'number' ? value : withArticle(typeName(value))}`;
  return `must be an object, not ${withArticle(typeName(value))}`;
}

/** Returns the sentence for a value that is not one of the allowed ones. */
export function wrongValue(value: unknown, values: readonly string[]): string {
  if (value !== undefined && typeof value !== 'string') return wrongType('string', value);
  const choice = values.length === 1 ? values[0] : `one of ${values.join(', ')}`;
  if (value === undefined) return `is missing; use ${choice}`;
  const suggestion = values.length === 1 ? undefined : nearest(value, values);
  return `${quote(value)} is not a valid value; ${suggestion === undefined ? `use ${choice}` : `did you mean ${suggestion}?`}`;
}

function withArticle(noun: string): string {
  return noun === 'null' ? noun : /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, part) =>
      typeof inner === 'object' && inner !== null ? (inner as Record<PropertyKey, unknown>)[part] : undefined,
    value,
  );
}

/** Returns the keys that a schema knows at a path. */
function knownKeys(schema: z.core.$ZodType, path: Path): string[] {
  const inner = schemaAt(schema, path);
  return inner === undefined ? [] : Object.keys(shapeOf(inner) ?? {});
}

function schemaAt(schema: z.core.$ZodType, path: Path): z.core.$ZodType | undefined {
  return path.reduce<z.core.$ZodType | undefined>(
    // `shapeOf` of a list is the shape of its entries.
    (inner, part) => (inner === undefined || typeof part === 'number' ? inner : shapeOf(inner)?.[String(part)]),
    schema,
  );
}
