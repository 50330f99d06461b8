import { withoutUrlCredentials } from './url-credentials.ts';

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
