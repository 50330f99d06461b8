import { distance as levenshtein } from 'fastest-levenshtein';

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
    const edits = distance(word, candidate);
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
  return known.includes(word) ? undefined : known.find((candidate) => distance(word, candidate) <= 2);
}

/** Returns the edit distance, ignoring case. */
function distance(a: string, b: string): number {
  if (Math.max(a.length, b.length) > LONGEST) return Number.POSITIVE_INFINITY;
  return levenshtein(a.toLowerCase(), b.toLowerCase());
}
