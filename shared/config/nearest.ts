/** Longer words are pasted texts; the time of a comparison grows with the length of both. */
const LONGEST = 64;
/** Further ones are not compared: a list of the configuration has at most so many entries, but one object may name thousands. */
const MOST_KNOWN = 100;
/** A long word with more of them is another one. */
const MOST_EDITS = 4;

/**
 * Returns the known word that was probably meant: equal except for case, or few edits away. Undefined if none is close.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  // At most a quarter of the word may differ, or "HelmRepository" would suggest "GitRepository"; short words tolerate
  // two edits ("branch" for "brnhc"), and the shortest one: "git" is not "gcr".
  let most = word.length <= 3 ? 1 : Math.max(2, Math.min(MOST_EDITS, Math.floor(word.length / 4)));
  let best: string | undefined;
  for (const candidate of known.slice(0, MOST_KNOWN)) {
    const edits = distance(word, candidate, most);
    if (edits > most) continue;
    best = candidate;
    // From here on only a closer one counts.
    most = edits - 1;
    if (most < 0) break;
  }
  return best;
}

/** Returns a known word that is one or two edits away: the word is a typo rather than another name. */
export function misspelt(word: string, known: readonly string[]): string | undefined {
  return known.includes(word) ? undefined : known.find((candidate) => distance(word, candidate, 2) <= 2);
}

/**
 * Returns the edit distance, ignoring case; swapping two neighbours is one edit. More than `most` where it is more, or where
 * a word is too long: only the cells of the matrix that can be part of a way so short are computed.
 */
function distance(a: string, b: string, most: number): number {
  if (Math.max(a.length, b.length) > LONGEST) return FAR;
  const [left, right] = [a.toLowerCase(), b.toLowerCase()];
  // The distance is at least the difference of the lengths.
  if (Math.abs(left.length - right.length) > most) return FAR;
  let [before, above, current] = rows;
  let leastAbove = 0;
  for (let column = 0; column <= most; column++) above[column] = column;
  above[most + 1] = FAR;
  for (let row = 1; row <= left.length; row++) {
    const [first, last] = [Math.max(1, row - most), Math.min(right.length, row + most)];
    current[first - 1] = row <= most ? row : FAR;
    current[last + 1] = FAR;
    let least = at(current, first - 1);
    for (let column = first; column <= last; column++) {
      const cost = left.charCodeAt(row - 1) === right.charCodeAt(column - 1) ? 0 : 1;
      let edits = Math.min(at(above, column) + 1, at(current, column - 1) + 1, at(above, column - 1) + cost);
      if (isSwap(left, row, right, column)) edits = Math.min(edits, at(before, column - 2) + 1);
      current[column] = edits;
      least = Math.min(least, edits);
    }
    // A swap reaches back over one row.
    if (least > most && leastAbove >= most) return FAR;
    leastAbove = least;
    [before, above, current] = [above, current, before];
  }
  return at(above, right.length);
}

function isSwap(left: string, row: number, right: string, column: number): boolean {
  const isPossible = row > 1 && column > 1 && left.charCodeAt(row - 1) === right.charCodeAt(column - 2);
  return isPossible && left.charCodeAt(row - 2) === right.charCodeAt(column - 1);
}

/** More edits than any two words that are compared; with one for each character, it still fits into a byte. */
const FAR = 100;

/** Of the matrix; kept, because a search compares hundreds of words. Letters may become two in lower case. */
const rows = [newRow(), newRow(), newRow()] as const;

function newRow(): Uint8Array {
  return new Uint8Array(2 * LONGEST + 2);
}

function at(row: Uint8Array, column: number): number {
  return row[column] ?? FAR;
}
