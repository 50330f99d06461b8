/** What follows `scheme://`, up to a space or a quote; a password may hold a quote that nobody has escaped. */
const urls = /\b([a-z][\w+.-]{0,30}:\/\/)([^\s'"`<>]*)(['"`<>]\S*)?/gi;

/** `git.example.com`, perhaps with a port, at the begin of a path or at the end; a version like v1.2 is none. */
const fullHost = /^[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?::\d+)?(?=[/?#:]|$)/i;

/**
 * URLs without their credentials. Over HTTP the user may be a token already; the user of ssh is no secret. Passwords
 * are found also where their `/` or `@` is not escaped, so that the URL is none.
 */
export function withoutUrlCredentials(text: string): string {
  return text.replace(urls, (whole, scheme: string, rest: string, quoted = '') => {
    const end = endOfCredentials(rest);
    if (end !== undefined)
      return `${masked(scheme, rest.slice(0, end))}${rest.slice(end)}${withoutUrlCredentials(quoted)}`;
    // The quote may be a part of the password.
    const longer = `${rest}${quoted}`;
    const later = hasNoPort(authorityOf(rest)) ? endOfCredentials(longer) : undefined;
    if (later !== undefined) return `${masked(scheme, longer.slice(0, later))}${longer.slice(later)}`;
    return quoted === '' ? whole : `${scheme}${rest}${withoutUrlCredentials(quoted)}`;
  });
}

/** With the `@`. */
function masked(scheme: string, credentials: string): string {
  const [user = ''] = credentials.split(/[:@]/);
  return scheme.toLowerCase() === 'ssh://' ? `${scheme}${user}@` : `${scheme}***@`;
}

/** Index of what follows the `@` after user and password; undefined: there are none. */
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
  // Without an @ before the path it is a host, or the begin of credentials with a "/" in them.
  if (hasNoPort(authority)) return rest.lastIndexOf('@') + 1 || undefined;
  return /[.[]/.test(authority) ? undefined : last || undefined;
}

function authorityOf(rest: string): string {
  return rest.split(/[/?#]/, 1)[0] ?? '';
}

/** What follows the colon is no port, so it is a password. */
function hasNoPort(authority: string): boolean {
  return !authority.startsWith('[') && /:(?!\d*$)/.test(authority);
}
