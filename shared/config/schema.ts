import * as z from 'zod/mini';
import type { ConfigIssue } from '../errors.ts';
import type { Check } from './checks.ts';
import { entriesProblem, type Limit, limits, limitText, MOST_ISSUES_OF_A_PART } from './limits.ts';
import { nearest } from './nearest.ts';
import { issueAt, type Place } from './origins.ts';
import { quote, typeName } from './quote.ts';
import { valueAt } from './values.ts';

/** The documentation of a key in docs/configuration.md. */
export interface KeyDoc {
  /** What the key does, in one or two sentences. */
  description: string;
  /** Its default, as Markdown; absent: nothing. */
  default?: string;
  /** An example value, as the user would write it. */
  example: string;
  /** For a key of `flux-config`: the field of the effective configuration that it sets. */
  sets?: string;
}

/** The documentation of the keys of all schemas in this folder. A Map: the registry of zod would add 0.7 KB to bundles. */
export const keyDocs = new Map<z.core.$ZodType, KeyDoc>();

/** Declares an optional key with its documentation. */
export function key<T extends z.ZodMiniType>(schema: T, doc: KeyDoc): z.ZodMiniOptional<T> {
  const optional = z.optional(schema);
  keyDocs.set(optional, doc);
  return optional;
}

/** Declares a required key with its documentation. */
export function requiredKey<T extends z.ZodMiniType>(schema: T, doc: KeyDoc): T {
  keyDocs.set(schema, doc);
  return schema;
}

/** Adds a rule to a schema: what is wrong with a valid value, and below which path. */
export function ruled<T extends z.ZodMiniType>(
  schema: T,
  problemOf: (value: z.core.output<T>) => string | undefined,
  path: readonly string[] = [],
): T {
  return schema.check(
    z.check<z.core.output<T>>(({ value, issues }) => {
      const message = problemOf(value);
      // A copy, because zod writes into it.
      if (message !== undefined) issues.push({ code: 'custom', message, input: value, path: [...path] });
    }),
  );
}

/** Returns the schema of a string that passes the check; a string that is longer than the limit is not checked. */
export function text(check?: Check, limit: Limit = limits.text) {
  return ruled(z.string(), (value) => lengthProblem(value, limit) ?? check?.(value));
}

/** Returns the schema of a list with a limit. */
export function listUpTo<T extends z.ZodMiniType>(limit: Limit, entry: T) {
  return ruled(z.array(entry), ({ length }) => (length > limit.most ? entriesProblem(length, limit) : undefined));
}

/** Returns the schema of a map of strings, such as labels. */
export function mapOf(keyCheck: Check, valueCheck?: Check, limit: Limit = limits.list) {
  return z.looseObject({}).check(
    z.check<Record<string, unknown>>(({ value, issues }) => {
      const report = (message: string | undefined, path: string[]) => {
        if (message !== undefined) issues.push({ code: 'custom', message, input: value, path });
      };
      const entries = Object.entries(value);
      if (entries.length > limit.most) return report(entriesProblem(entries.length, limit), []);
      for (const [name, entry] of entries) {
        const ofKey = keyCheck(name);
        if (ofKey !== undefined) report(ofKey, []);
        else if (typeof entry !== 'string') report(wrongType('string', entry), [name]);
        else report(valueCheck && (lengthProblem(entry) ?? valueCheck(entry)), [name]);
      }
    }),
  ) as unknown as z.ZodMiniType<Record<string, string>>;
}

/** Returns the problem with a string that is longer than a limit; it is too long to quote. */
export function lengthProblem({ length }: string, limit: Limit = limits.text): string | undefined {
  return length > limit.most * (limit.unit === 'KiB' ? 1024 : 1)
    ? `is longer than ${limitText(limit)}; use a shorter one`
    : undefined;
}

/** Returns the fields of an object schema, also of an optional one, or of the entries of a list. */
export function shapeOf(schema: z.core.$ZodType | undefined): Record<string, z.core.$ZodType> | undefined {
  if (schema === undefined) return undefined;
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'object') return def.shape as Record<string, z.core.$ZodType>;
  if (def.type === 'optional') return shapeOf(def.innerType);
  if (def.type === 'array') return shapeOf(def.element);
  return undefined;
}

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

function sentences(issue: z.core.$ZodIssue, schema: z.ZodMiniType, value: unknown): { path: Path; message: string }[] {
  const at = valueAt(value, issue.path);
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = Object.keys(shapeOf(schemaAt(schema, issue.path)) ?? {});
      return issue.keys
        .slice(0, MOST_ISSUES_OF_A_PART)
        .map((unknown) => ({ path: [unknown], message: unknownKey(unknown, known) }));
    }
    case 'invalid_type': {
      const field = schemaAt(schema, issue.path);
      const example = field && keyDocs.get(field)?.example;
      const missing = example === undefined ? 'is missing; set it' : `is missing; set it, for example ${example}`;
      return [{ path: [], message: at === undefined ? missing : wrongType(issue.expected, at, example) }];
    }
    case 'invalid_value':
      return [{ path: [], message: wrongValue(at, issue.values.map(String)) }];
    default:
      return [{ path: [], message: issue.message }];
  }
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
  const type = typeName(value);
  const given = type === 'null' ? type : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
  if (expected === 'boolean')
    return `must be true or false without quotes, not ${typeof value === 'string' ? quote(value) : given}`;
  if (expected === 'array') return `must be a list, not ${given}; start each entry with "- "`;
  if (expected === 'integer') {
    if (typeof value === 'number') return `must be an integer, not ${value}`;
    return `must be an integer, not ${given}; write a number${typeof value === 'string' ? ' without quotes' : ''}`;
  }
  if (expected !== 'string') return `must be an object, not ${given}`;
  // Quotes around a list or an object would make a text that no key understands.
  const asText = example === undefined ? 'write a single value' : `write for example ${example}`;
  return `must be a string, not ${given}; ${typeof value === 'object' ? asText : 'put it in quotes'}`;
}

/** Returns the sentence for a value that is not one of the allowed ones. */
export function wrongValue(value: unknown, values: readonly string[]): string {
  if (value !== undefined && typeof value !== 'string') return wrongType('string', value);
  const choice = values.length === 1 ? values[0] : `one of ${values.join(', ')}`;
  if (value === undefined) return `is missing; use ${choice}`;
  const suggestion = values.length === 1 ? undefined : nearest(value, values);
  return `${quote(value)} is not a valid value; ${suggestion === undefined ? `use ${choice}` : `did you mean ${suggestion}?`}`;
}

function schemaAt(schema: z.core.$ZodType, path: Path): z.core.$ZodType | undefined {
  return path.reduce<z.core.$ZodType | undefined>(
    // `shapeOf` of a list is the shape of its entries.
    (inner, part) => (typeof part === 'number' ? inner : shapeOf(inner)?.[String(part)]),
    schema,
  );
}
