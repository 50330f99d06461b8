/**
 * The known word that was probably meant: equal but for case, or few edits away. Undefined when nothing is near.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const distances = known.map((candidate) => ({ candidate, distance: distance(word, candidate) }));
  const best = distances.sort((a, b) => a.distance - b.distance)[0];
  // A quarter of the word may be wrong, or "HelmRepository" would be a "GitRepository"; short words still tolerate two
  // edits ("tag" for "tga").
  return best !== undefined && best.distance <= Math.max(2, Math.floor(word.length / 4)) ? best.candidate : undefined;
}

/** A known word that is at most two edits away without being equal: a typo rather than another word. */
export function misspelt(word: string, known: readonly string[]): string | undefined {
  if (known.includes(word)) return undefined;
  // No fewer edits than the lengths differ by.
  const near = known.filter(({ length }) => Math.abs(length - word.length) <= 2);
  return near.find((candidate) => distance(word, candidate) <= 2);
}

/** Edit distance with swaps of neighbours as one edit, ignoring case. */
function distance(a: string, b: string): number {
  // Nothing longer than a key is ever near one: a pasted text must not cost quadratic time.
  if (Math.abs(a.length - b.length) > 20) return Number.POSITIVE_INFINITY;
  const left = a.toLowerCase();
  const right = b.toLowerCase();
  let before: number[] = [];
  let above = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const cost = left[row - 1] === right[column - 1] ? 0 : 1;
      const edits = [(above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (above[column - 1] ?? 0) + cost];
      if (left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]) {
        edits.push((before[column - 2] ?? 0) + 1);
      }
      current.push(Math.min(...edits));
    }
    before = above;
    above = current;
  }
  return above[right.length] ?? 0;
}
