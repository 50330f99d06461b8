/** Conditions and errors quote this much of a foreign message. */
export const LONGEST_QUOTE = 500;

/** Only this much of a foreign message is read: a shoot's owner may write texts of any length. */
const LONGEST_READ = 5000;

/** Returns the start of a foreign message, which is searched for its meaning. */
export function beginOf(text: string): string {
  return cutText(text, LONGEST_READ);
}

/**
 * Control characters, which a terminal would obey; characters that reverse the direction of a text, or are invisible;
 * and halves of characters, which not every parser of JSON accepts.
 */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu;

/** Colours for a terminal; the letter at the end of one would be taken for the begin of a token that follows. */
const colours = new RegExp(`${String.fromCharCode(27)}\\[[\\d;?]{0,50}[a-z]`, 'gi');

/** Returns a foreign message on one line, without secrets, cut to a length. */
export function safeText(text: string, longest = LONGEST_QUOTE): string {
  const line = withoutSecrets(beginOf(text).replace(colours, '')).replace(invisible, ' ').trim();
  return line.length > longest ? `${cutExactly(line, longest).trimEnd()}…` : line;
}

/** Names of secrets: the end of a key in JSON, in a header, in a query or in an argument. */
const secretKeys =
  'pass(?:word|wd|phrase)|pwd|token|secret|secret[_-]?(?:access[_-]?)?key|access[_-]?key(?:[_-]?id)?|(?:api|private|account|sas)[_-]?key|credentials?|signature|dockerconfigjson';
/** Those of them that name a secret even without quotes. */
const plainKeys =
  'pass(?:word|wd|phrase)|pwd|(?:client|bearer)[_-]?(?:secret|token)|secret[_-]?(?:access[_-]?)?key|access[_-]?key|(?:api|private|account|sas)[_-]?key';
/** Excludes matches within a word or a path. */
const begin = '(?<![\\w./-])';

/**
 * Forms of secrets, and their replacements. Ordinary words beside them stay: `basic authentication`,
 * `Secret "a" not found`, revisions, fingerprints and paths.
 */
const forms: [RegExp, string | ((...found: string[]) => string)][] = [
  [/-----BEGIN [^-]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(-----END [^-]*PRIVATE KEY(?: BLOCK)?-----|$)/g, '***'],
  // The same in base64, as in a kubeconfig, and JSON in base64: registry credentials, parts of a JWT.
  [/\b(?:LS0tLS1CRUdJTi|eyJ[\w-]{8})[\w+/=.-]*/g, '***'],
  [/AGE-SECRET-KEY-[\w-]+/gi, '***'],
  [
    /\b(gh[opsur]_|github_pat_|gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|ffct|oas|wt)-|hv[sbr]\.|xox[abeprs]-|npm_|dckr_[a-z]+_|AT(?:ATT|BB|CTT)|ya29\.|AIza)(?=[\w-]{0,99}\d)[\w-]{16,}(?:\.[\w-]+)*/g,
    '$1***',
  ],
  [/\b(AKIA|ASIA)[A-Z0-9]{16}\b/g, '$1***'],
  // JSON, also JSON within a string of JSON; a number may be a secret too.
  [
    new RegExp(
      `"([\\w.-]*(?:${secretKeys}|auth|identity|authorization))"(\\s*:\\s*)(?:"(?:\\\\.|[^"\\\\])*(?:"|$)|[\\d.]+)`,
      'gi',
    ),
    '"$1"$2"***"',
  ],
  [
    new RegExp(
      `(?<!\\\\)(\\\\+")([\\w.-]*(?:${secretKeys}|auth|identity|authorization))\\1(\\s*:\\s*)\\1.*?(?:\\1|$)`,
      'gis',
    ),
    '$1$2$1$3$1***$1',
  ],
  // Headers, as HTTP has them and as Go prints them; then schemes without the name of the header.
  [
    /\b((?:proxy-)?authorization["']?\s*[:=]\s*\[?["']?(?:basic|bearer|token|digest|negotiate|aws4-hmac-sha256)\s+)[^\s"'\],]+/gi,
    '$1***',
  ],
  [/\b((?:private|deploy|job|x-[\w-]{1,40})-token["']?\s*:\s*\[?["']?)[^\s"'\]]+/gi, '$1***'],
  [/\b(bearer )([\w+/=.~-]{6,})/gi, (_, scheme, value) => `${scheme}${isRandom(value) ? '***' : value}`],
  [/\b(basic )([\w+/-]{4,}={0,2})/gi, (_, scheme, value) => `${scheme}${isBasic(value) ? '***' : value}`],
  // A query, an argument, a connection string; then YAML and prose, where a word may follow.
  [/([?&](?:sig|x-amz-[\w-]+|x-goog-[\w-]+)=)[^\s&'"]+/gi, '$1***'],
  [new RegExp(`${begin}((?:--?)?[\\w.-]*(?:${secretKeys})=)("[^"]*"|'[^']*'|[^\\s&;,'"]+)`, 'gi'), '$1***'],
  [new RegExp(`${begin}([\\w.-]*(?:${plainKeys}):\\s*)("[^"]*"|'[^']*'|[^\\s,'"}\\]]+)`, 'gi'), '$1***'],
  [
    new RegExp(`${begin}([\\w.-]*(?:${secretKeys}):\\s*)([\\w+=.~-]{16,})`, 'gi'),
    (_, key, value) => `${key}${/\d/.test(value) && /[a-z]/i.test(value) ? '***' : value}`,
  ],
];

/** Returns the text without secrets, fit for a status that others may read. */
export function withoutSecrets(text: string): string {
  return forms.reduce((rest, [form, left]) => rest.replace(form, left as string), withoutUrlCredentials(text));
}

/** Returns false for words, as in `Bearer authentication` or `bearer oauth2`, and parameters: `Bearer realm="…"`. */
function isRandom(value: string): boolean {
  return !/^(?:oauth2?|[A-Z]?[a-z-]+)[.,:]?$|^[a-z_]+=?$/.test(value);
}

/** Returns true for `user:password` in base64. */
function isBasic(value: string): boolean {
  return /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(Buffer.from(value, 'base64').toString('latin1'));
}

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

/** Returns `1 Shoot` or `3 Shoots`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
