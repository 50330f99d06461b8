/**
 * The rest of a URL after `scheme://`, up to a space or a quote; a password may contain an unescaped quote. What may
 * belong to such a password is bounded: with a quote in each URL, all of them would be searched to the end of the text.
 */
const urls = /\b([a-z][\w+.-]{0,30}:\/\/)([^\s'"`<>]*)(['"`<>]\S{0,300})?/gi;

/** `git.example.com`, optionally with a port, before a path or at the end; a version like v1.2 is not a host. */
const fullHost = /^[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?::\d+)?(?=[/?#:]|$)/i;

/**
 * Removes credentials from URLs. Over HTTP even the user may be a token; the user of ssh is no secret. Finds passwords
 * whose `/` or `@` is not escaped, which makes the URL invalid.
 */
export function withoutUrlCredentials(text: string): string {
  const url = new RegExp(urls);
  let clean = '';
  let copied = 0;
  for (let found = url.exec(text); found !== null; found = url.exec(text)) {
    const [whole, scheme = '', rest = '', quoted = ''] = found;
    const start = found.index + scheme.length;
    const credentials = credentialsIn(rest, quoted);
    // The quoted part is searched for further URLs, unless it belongs to the password.
    url.lastIndex =
      credentials !== undefined && credentials > rest.length ? found.index + whole.length : start + rest.length;
    if (credentials === undefined) continue;
    clean += text.slice(copied, found.index) + masked(scheme, `${rest}${quoted}`.slice(0, credentials));
    copied = start + credentials;
  }
  return clean + text.slice(copied);
}

/** Returns the length of the credentials at the beginning of a URL's rest. */
function credentialsIn(rest: string, quoted: string): number | undefined {
  const end = endOfCredentials(rest);
  if (end !== undefined) return end;
  // The quote may be part of the password.
  return hasNoPort(authorityOf(rest)) ? endOfCredentials(`${rest}${quoted}`) : undefined;
}

/** Replaces credentials, including the `@`. */
function masked(scheme: string, credentials: string): string {
  const [user = ''] = credentials.split(/[:@]/);
  return scheme.toLowerCase() === 'ssh://' ? `${scheme}${user}@` : `${scheme}***@`;
}

/** Returns the index after the `@` that ends user and password; undefined if there are none. */
function endOfCredentials(rest: string): number | undefined {
  const authority = authorityOf(rest);
  const proper = authority.lastIndexOf('@') + 1;
  const beforeHosts = [...rest.matchAll(/@/g)]
    .map(({ index }) => index + 1)
    .filter((at) => fullHost.test(rest.slice(at)));
  const last = beforeHosts.at(-1) ?? 0;
  if (proper > 0) {
    if (last > proper) return last;
    return hasNoPort(authority.slice(proper)) ? rest.lastIndexOf('@') + 1 : proper;
  }
  // Without an @ before the path it is a host, or the start of credentials that contain a "/".
  if (hasNoPort(authority)) return rest.lastIndexOf('@') + 1 || undefined;
  return /[.[]/.test(authority) ? undefined : last || undefined;
}

function authorityOf(rest: string): string {
  return rest.split(/[/?#]/, 1)[0] ?? '';
}

/** Returns true when the text after the colon is not a port, and so is a password. */
function hasNoPort(authority: string): boolean {
  return !authority.startsWith('[') && /:(?!\d*$)/.test(authority);
}
