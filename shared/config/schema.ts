import * as z from 'zod/mini';
import type { Check } from './checks.ts';
import { type Limit, limits, limitText } from './limits.ts';

/** The documentation of a key in docs/configuration.md. */
export interface KeyDoc {
  /** What the key does, in one or two sentences. */
  description: string;
  /** Its default, as Markdown; absent: nothing. */
  default?: string;
  /** An example value, as the user would write it. */
  example: string;
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

/** Returns the schema of a string that passes the check; a string that is longer than the limit is not checked. */
export function text(check?: Check, limit: Limit = limits.text) {
  return z.string().check(
    z.check<string>((payload) => {
      const problem = lengthProblem(payload.value, limit) ?? check?.(payload.value);
      if (problem !== undefined) payload.issues.push({ code: 'custom', message: problem, input: payload.value });
    }),
  );
}

/** Returns the problem with a string that is longer than a limit; it is too long to quote. */
export function lengthProblem({ length }: string, limit: Limit = limits.text): string | undefined {
  return length > limit.most * (limit.unit === 'KiB' ? 1024 : 1)
    ? `is longer than ${limitText(limit)}; use a shorter one`
    : undefined;
}

/** Returns the fields of an object schema, also of an optional one, or of the entries of a list. */
export function shapeOf(schema: z.core.$ZodType): Record<string, z.core.$ZodType> | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'object') return def.shape as Record<string, z.core.$ZodType>;
  if (def.type === 'optional') return shapeOf(def.innerType);
  if (def.type === 'array') return shapeOf(def.element);
  return undefined;
}
