const LONGEST = 80;

/**
 * A value as errors show it: JSON on one line, cut when long, without credentials of a URL and never anything that
 * looks like a private key, which people do paste into the wrong field.
 */
export function quote(value: unknown): string {
  if (typeof value !== 'string') return `a value of type ${typeName(value)}`;
  if (value.includes('PRIVATE KEY')) return 'the given private key';
  const safe = value.replace(/\/\/[^/@\s]*@/g, (userInfo) => (userInfo === '//git@' ? userInfo : '//...@'));
  return JSON.stringify(safe.length > LONGEST ? `${safe.slice(0, LONGEST)}...` : safe);
}

/** The JSON type of a value with its article-free name, for example `list`. */
export function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  return typeof value;
}
