/** JSON as it was given: nothing is known about it yet. */
export type JsonObject = Record<string, unknown>;

/** The value as an object, or undefined when it is something else. */
export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** The value as a text, or undefined when it is something else. */
export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/**
 * Without the fields that Go programs write for "absent": null and the empty text. Other values, and everything
 * below the first level, stay as they are.
 */
export function withoutEmpty(value: unknown): unknown {
  const object = asObject(value);
  if (object === undefined) return value;
  return Object.fromEntries(Object.entries(object).filter(([, field]) => field !== null && field !== ''));
}

/** Without null at any depth: Go programs read it as absent, where an API server refuses it. Lists keep their places. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  const object = asObject(value);
  if (object === undefined) return value;
  const fields = Object.entries(object).filter(([, field]) => field !== null);
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutNulls(field)]));
}
