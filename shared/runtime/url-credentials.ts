/** The rest of a URL after `scheme://`, up to a space or a quote; a password may contain an unescaped quote. */
const urls = /\b([a-z][\w+.-]{0,30}:\/\/)([^\s'"`<>]*)(['"`<>]\S*)?/gi;

/** `git.example.com`, optionally with a port, before a path or at the end; a version like v1.2 is not a host. */
const fullHost = /^[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?::\d+)?(?=[/?#:]|$)/i;

/**
 * Removes credentials from URLs. Over HTTP even the user may be a token; the user of ssh is no secret. Finds passwords
 * whose `/` or `@` is not escaped, which makes the URL invalid.
 */
export function withoutUrlCredentials(text: string): string {
  return text.replace(urls, (whole, scheme: string, rest: string, quoted = '') => {
    const end = endOfCredentials(rest);
    if (end !== undefined)
      return `${masked(scheme, rest.slice(0, end))}${rest.slice(end)}${withoutUrlCredentials(quoted)}`;
    // The quote may be part of the password.
    const longer = `${rest}${quoted}`;
    const later = hasNoPort(authorityOf(rest)) ? endOfCredentials(longer) : undefined;
    if (later !== undefined) return `${masked(scheme, longer.slice(0, later))}${longer.slice(later)}`;
    return quoted === '' ? whole : `${scheme}${rest}${withoutUrlCredentials(quoted)}`;
  });
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
