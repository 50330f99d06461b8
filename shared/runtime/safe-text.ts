/** As much of somebody else's message as a condition or an error shows. */
export const LONGEST_QUOTE = 500;

/**
 * What must not be seen by whoever reads a status, although a server, a controller or a webhook quotes it: private
 * keys, credentials in URLs and headers, and tokens that say by their form what they are.
 */
const secrets: [RegExp, string][] = [
  [/-----BEGIN [^-]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(-----END [^-]*PRIVATE KEY(?: BLOCK)?-----|$)/g, '***'],
  // The same in base64, as in a kubeconfig.
  [/\bLS0tLS1CRUdJTi[\w+/=]*/g, '***'],
  [/\b(authorization:\s*\w+\s+|(?:private|x-auth)-token:\s*)[^\s"']+/gi, '$1***'],
  [/AGE-SECRET-KEY-[\w-]+/gi, '***'],
  // The user of ssh is no secret; over HTTP it may be the token. A password may hold an @ itself.
  [/\b(ssh:\/\/[^\s:/@'"]+):[^\s/'"]*@/g, '$1@'],
  [/\b(?!ssh:)([a-z][\w+.-]*:\/\/)[^\s/'"]*@/gi, '$1***@'],
  [
    /([?&](?:\w*token|\w*secret|\w*password|\w*signature|\w*credential|sig|x-amz-[\w-]+|x-goog-[\w-]+)=)[^\s&'"]+/gi,
    '$1***',
  ],
  [/\b(bearer|basic) (?!authenti|authoriz)[\w+/=.~-]{12,}/gi, '$1 ***'],
  [
    /\b(gh[opsur]_|github_pat_|gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct|oas)-|hvs\.|xox[abp]-)[\w-]{16,}/g,
    '$1***',
  ],
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, '***'],
];

/** A foreign message on one line, without secrets, cut when it is long. */
export function safeText(text: string, longest = LONGEST_QUOTE): string {
  const safe = secrets.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text);
  const line = safe.replace(/\s+/g, ' ').trim();
  return line.length > longest ? `${line.slice(0, longest).trimEnd()}…` : line;
}
