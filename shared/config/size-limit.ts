/** More than any configuration needs, and so little that it is judged while somebody waits for the answer. */
const LONGEST_KIB = 128;
const DEEPEST = 64;

/** Why a value is too much to be judged; undefined where it is not. Anybody may write a megabyte into a Shoot. */
export function sizeProblem(value: unknown): string | undefined {
  let characters = 0;
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) return `is nested more than ${DEEPEST} levels deep; flatten it`;
    const below: unknown[] = [];
    for (const item of level) {
      if (typeof item === 'string') characters += item.length;
      const fields = typeof item === 'object' && item !== null ? Object.entries(item) : [];
      for (const [key, field] of fields) {
        characters += key.length;
        below.push(field);
      }
      if (characters > LONGEST_KIB * 1024) {
        return `is longer than ${LONGEST_KIB} KiB; move long content to the repository`;
      }
    }
    level = below;
  }
  return undefined;
}
