const MAX_LENGTH = 80;

/** So much of a value is searched word by word. The rest is not shown, and a Shoot has room for a megabyte of it. */
const LONGEST_READ = 2 * MAX_LENGTH;

/** No password is longer: an `@` up to here ends one that begins in what is shown. */
const LONGEST_PASSWORD = 8192;

/**
 * Quotes a value for an error: on one line, truncated, without the credentials of a URL, and without private keys, which
 * people do paste into the wrong field.
 */
export function quote(value: string): string {
  if (value.slice(0, LONGEST_PASSWORD).includes('PRIVATE KEY')) return '(a private key)';
  const hasEnd = value.slice(LONGEST_READ, LONGEST_PASSWORD).includes('@');
  // All that decides how the value is shown.
  const begin = value.slice(0, LONGEST_READ) + (hasEnd ? '@' : '');
  return JSON.stringify(truncate(withoutCredentials(begin))).replace(UNSEEN, escaped);
}

/**
 * What a terminal obeys, what reverses the direction of a text, and what looks like nothing or like a space: JSON leaves
 * these characters as they are, and a user who has copied one would not find it.
 */
const UNSEEN = /(?! )[\p{C}\p{Z}]/gu;

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/** Shows a word such as a kind without quotation marks, and any other text with them. */
export function shown(text: string): string {
  return /^[\w./:-]{1,80}$/.test(text) ? text : quote(text);
}

/** Truncates a string to the length that errors show. */
export function truncate(text: string): string {
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}...` : text;
}

/** How many entries of a list a sentence names, and in how many characters: a hundred sentences may name them. */
const MOST_NAMED = 10;
const LONGEST_LIST = 300;

/** Returns the first entries of a list for a sentence, and how many it leaves out. */
export function firstOf(
  entries: readonly string[],
  show: (entry: string) => string,
): { named: string[]; more: number } {
  const named: string[] = [];
  for (const entry of entries.slice(0, MOST_NAMED)) {
    if (named.length > 0 && named.join(', ').length + entry.length > LONGEST_LIST) break;
    named.push(show(entry));
  }
  return { named, more: entries.length - named.length };
}

/** Returns the remedy that names what is allowed. */
export function useOneOf(allowed: readonly string[]): string {
  const { named, more } = firstOf(allowed, truncate);
  const isOne = named.length === 1 && more === 0;
  return `use ${isOne ? '' : 'one of '}${named.join(', ')}${more > 0 ? ` or ${more} more` : ''}`;
}

/**
 * Removes everything before an `@`, because a password may contain any character, also white space; the user `git` alone
 * is no secret.
 */
export function withoutCredentials(text: string): string {
  const last = text.lastIndexOf('@');
  let isInPassword = false;
  // Word by word, to stay linear: users can put a megabyte here.
  return text.replace(/\S+/g, (word, start: number) => {
    const at = word.lastIndexOf('@');
    const scheme = /^(?:[\w+.-]+:)?\/\//.exec(word)?.[0] ?? '';
    if (at === -1) {
      isInPassword = start < last && (isInPassword || hasPassword(word, scheme));
      return isInPassword ? `${scheme}...` : word;
    }
    const user = word.slice(scheme.length, at);
    const isSecret = isInPassword || user !== 'git';
    isInPassword = false;
    return isSecret ? `${scheme}...${word.slice(at)}` : word;
  });
}

/** True for the start of credentials such as `https://user:pass`, false for a host with or without a port. */
function hasPassword(word: string, scheme: string): boolean {
  const colon = scheme === '' ? -1 : word.indexOf(':', scheme.length);
  return colon !== -1 && !/^\d{1,5}(?:\/|$)/.test(word.slice(colon + 1));
}

/** Returns the JSON type of a value, as users know it: `string`, `number`, `boolean`, `list`, `object` or `null`. */
export function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  return typeof value;
}
