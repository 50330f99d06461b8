/**
 * Returns the known word that was probably meant: equal except for case, or few edits away. Undefined if none is close.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const distances = known.map((candidate) => ({ candidate, distance: distance(word, candidate) }));
  const best = distances.sort((a, b) => a.distance - b.distance)[0];
  // At most a quarter of the word may differ, or "HelmRepository" would suggest "GitRepository"; short words tolerate
  // two edits ("branch" for "brnhc"), and the shortest one: "git" is not "gcr".
  const most = word.length <= 3 ? 1 : Math.max(2, Math.floor(word.length / 4));
  return best !== undefined && best.distance <= most ? best.candidate : undefined;
}

/** Returns a known word that is one or two edits away: the word is a typo rather than another name. */
export function misspelt(word: string, known: readonly string[]): string | undefined {
  if (known.includes(word)) return undefined;
  // The distance is at least the difference of the lengths.
  const near = known.filter(({ length }) => Math.abs(length - word.length) <= 2);
  return near.find((candidate) => distance(word, candidate) <= 2);
}

/** Returns the edit distance, ignoring case; swapping two neighbours is one edit. */
function distance(a: string, b: string): number {
  // A long pasted string is never close to a key and must not cost quadratic time.
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
