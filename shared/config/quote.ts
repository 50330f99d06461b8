const MAX_LENGTH = 80;

/**
 * Quotes a value for an error: on one line, truncated, without the credentials of a URL, and without private keys, which
 * people do paste into the wrong field.
 */
export function quote(value: string): string {
  if (value.includes('PRIVATE KEY')) return '(a private key)';
  const safe = withoutCredentials(value);
  return JSON.stringify(truncate(safe));
}

/** Shows a word such as a kind without quotation marks, and any other text with them. */
export function shown(text: string): string {
  return /^[\w./:-]{1,80}$/.test(text) ? text : quote(text);
}

/** Truncates a string to the length that errors show. */
export function truncate(text: string): string {
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}...` : text;
}

/** Removes everything before an `@`, because a password may contain any character; the user `git` alone is no secret. */
export function withoutCredentials(text: string): string {
  // Word by word, to stay linear: users can put a megabyte here.
  return text.replace(/\S+/g, (word) => {
    const at = word.lastIndexOf('@');
    if (at === -1) return word;
    const scheme = /^(?:[\w+.-]+:)?\/\//.exec(word)?.[0] ?? '';
    const user = word.slice(scheme.length, at);
    return user === 'git' ? word : `${scheme}...${word.slice(at)}`;
  });
}

/** Returns the JSON type of a value, as users know it: `string`, `number`, `boolean`, `list`, `object` or `null`. */
export function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  return typeof value;
}
