const LONGEST = 80;

/**
 * A text as errors show it: quoted on one line, cut when long, without credentials of a URL and never anything that
 * looks like a private key, which people do paste into the wrong field.
 */
export function quote(value: string): string {
  if (value.includes('PRIVATE KEY')) return 'the given private key';
  const safe = withoutCredentials(value);
  return JSON.stringify(truncate(safe));
}

/** As much of a text as errors show. */
export function truncate(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text;
}

/** Whatever stands before an `@`, which may be a password with any character, is left out; `git` alone is no secret. */
export function withoutCredentials(text: string): string {
  // Word by word, so that it takes no longer than reading: anybody may write a megabyte here.
  return text.replace(/\S+/g, (word) => {
    const at = word.lastIndexOf('@');
    if (at === -1) return word;
    const scheme = /^(?:[\w+.-]+:)?\/\//.exec(word)?.[0] ?? '';
    const user = word.slice(scheme.length, at);
    return user === 'git' ? word : `${scheme}...${word.slice(at)}`;
  });
}

/** The JSON type of a value in the user's words: `string`, `number`, `boolean`, `list`, `object` or `null`. */
export function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  return typeof value;
}
