/** A word that is cut may be this long; a longer one ends in the middle. */
const LONGEST_WORD = 1000;

/**
 * Returns the beginning of a text. Ends between two words: half of a token or URL would no longer be recognised as a
 * secret. Never splits a character.
 */
export function cutText(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const cut = text.slice(0, longest);
  if (isSpace(text.charAt(longest))) return cut;
  const earliest = Math.max(1, longest - LONGEST_WORD);
  for (let at = longest; at > earliest; at--) if (isSpace(cut.charAt(at - 1))) return cut.slice(0, at);
  return cutExactly(text, longest);
}

/** Returns the beginning of a text; never splits a character. */
export function cutExactly(text: string, longest: number): string {
  const cut = text.slice(0, longest);
  return cut.length < text.length && endsInsideCharacter(cut) ? cut.slice(0, -1) : cut;
}

function isSpace(character: string): boolean {
  return character.trim() === '';
}

/** True after the first half of a surrogate pair. */
function endsInsideCharacter(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}
