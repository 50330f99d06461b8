/** More than any configuration needs, and small enough to validate while an API server waits for the answer. */
const MAX_KIB = 128;
const MAX_DEPTH = 64;

/** Returns why a value is too large to validate; undefined when it is not. Users can put a megabyte into a Shoot. */
export function sizeProblem(value: unknown): string | undefined {
  let characters = 0;
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return `is nested more than ${MAX_DEPTH} levels deep; flatten it`;
    const below: unknown[] = [];
    for (const item of level) {
      if (typeof item === 'string') characters += item.length;
      const fields = typeof item === 'object' && item !== null ? Object.entries(item) : [];
      for (const [key, field] of fields) {
        characters += key.length;
        below.push(field);
      }
      if (characters > MAX_KIB * 1024) {
        return `is longer than ${MAX_KIB} KiB; move long content to the repository`;
      }
    }
    level = below;
  }
  return undefined;
}
