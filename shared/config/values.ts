/** A JSON object whose fields have not been checked. */
export type JsonObject = Record<string, unknown>;

/** Returns the value if it is an object, else undefined. */
export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** Returns the value if it is a string, else undefined. */
export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Returns the value at a path such as `chart.spec`, undefined where an object or list is missing on the way. */
export function valueAt(value: unknown, path: string | readonly PropertyKey[]): unknown {
  return (typeof path === 'string' ? path.split('.') : path).reduce<unknown>(
    (inner, field) => (typeof inner === 'object' ? (inner as Record<PropertyKey, unknown> | null)?.[field] : undefined),
    value,
  );
}

/**
 * Returns the values at a path such as `spec.include[].repository`, where `[]` stands for each entry of a list, and the path
 * of each.
 */
export function valuesAt(value: unknown, path: string): [value: unknown, path: string][] {
  return path.split('.').reduce<[unknown, string][]>(
    (found, part) =>
      found.flatMap(([object, above]): [unknown, string][] => {
        const name = part.replace('[]', '');
        const inner = asObject(object)?.[name];
        const at = above === '' ? name : `${above}.${name}`;
        if (name === part) return [[inner, at]];
        return Array.isArray(inner) ? inner.map((entry, index) => [entry, `${at}[${index}]`]) : [];
      }),
    [[value, '']],
  );
}

/**
 * Removes the fields that are null or the empty string, which Go programs write for absent fields. Deeper levels are
 * unchanged.
 */
export function withoutEmpty(value: unknown): unknown {
  const object = asObject(value);
  if (object === undefined) return value;
  return Object.fromEntries(Object.entries(object).filter(([, field]) => field !== null && field !== ''));
}

/** Removes null fields at any depth: Go programs read them as absent, but an API server rejects them. Lists keep null. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  const object = asObject(value);
  if (object === undefined) return value;
  const fields = Object.entries(object).filter(([, field]) => field !== null);
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutNulls(field)]));
}
