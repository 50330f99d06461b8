import { X509Certificate } from 'node:crypto';
import { parsedJson } from '../shapes.ts';
import { readIdentity } from '../ssh/identity.ts';

/** The content of a Secret as text. */
export type Values = Readonly<Record<string, string>>;

/** Returns what is wrong with the value of a key, as the rest of a sentence with the remedy; never the value. */
type ValueCheck = (value: string, data: Values) => string | undefined;

const WHOLE = 'which Flux takes as a part of it';
const PRINTF = "write it without one, for example with printf '%s' instead of echo";

/** `echo` and editors add a line break, and the host then refuses what looks right. */
const noLineBreak: ValueCheck = (value) => {
  if (/[\r\n]$/.test(value)) return `ends with a line break, ${WHOLE}; ${PRINTF}`;
  return /^[\r\n]/.test(value) ? `begins with a line break, ${WHOLE}; ${PRINTF}` : undefined;
};

/** Passwords may have spaces at their ends; names and tokens never do. */
const word: ValueCheck = (value, data) =>
  noLineBreak(value, data) ?? (value === value.trim() ? undefined : `has a space at one end, ${WHOLE}; remove it`);

const BLOCK = /^-----BEGIN CERTIFICATE-----[^-]*^-----END CERTIFICATE-----/gm;
/** Go reads a bundle if it can read one of its certificates; more than these are not tried. */
const MOST_TRIED = 20;

const certificates: ValueCheck = (value) => {
  const blocks = value.match(BLOCK)?.slice(0, MOST_TRIED) ?? [];
  if (blocks.length === 0) {
    const found = /PRIVATE KEY-----/.test(value)
      ? 'holds a private key instead of a certificate'
      : 'has no certificate in PEM form';
    return `${found}; write the certificate there as openssl x509 prints it`;
  }
  return blocks.some((block) => certificateOf(block) !== undefined)
    ? undefined
    : 'is damaged; write the certificate there as openssl x509 prints it';
};

/** Returns the certificate; undefined where the text is damaged. */
export function certificateOf(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

/** The key of a client certificate: Go reads the same forms as of SSH, except that of OpenSSH, and nothing encrypted. */
const tlsKey: ValueCheck = (value) => {
  if (/^-----BEGIN (?:OPENSSH|ENCRYPTED) PRIVATE KEY|^Proc-Type: 4,ENCRYPTED/m.test(value)) {
    return 'is encrypted or in the form of OpenSSH, which Flux does not read here; convert it with openssl pkey';
  }
  const read = readIdentity(value);
  return 'problem' in read ? `${read.problem}; write the key there that belongs to the certificate` : undefined;
};

const privateKey: ValueCheck = (value, { password }) => {
  const read = readIdentity(value, password);
  return 'problem' in read ? `${read.problem}; ${read.remedy ?? 'replace it with a valid private key'}` : undefined;
};

const dockerConfig: ValueCheck = (value) =>
  parsedJson(value) === undefined
    ? 'is not JSON; recreate the Secret with kubectl create secret docker-registry'
    : undefined;

/** By the key. Whatever Flux trims or reads line by line is not here (docs/flux-facts.md, Sources and Secrets). */
const checks: Readonly<Record<string, ValueCheck>> = {
  ...{ username: word, password: noLineBreak, bearerToken: word, token: word, address: word },
  ...{ accesskey: word, secretkey: word, accountKey: word, sasKey: word },
  ...{ 'ca.crt': certificates, caFile: certificates, 'tls.crt': certificates, certFile: certificates },
  ...{ 'tls.key': tlsKey, keyFile: tlsKey, identity: privateKey, '.dockerconfigjson': dockerConfig },
};

/** The keys with certificates; Flux reads the second names where the first are missing. */
export const TLS_KEYS = ['ca.crt', 'caFile', 'tls.crt', 'certFile', 'tls.key', 'keyFile'] as const;

/** Beginnings of what Secrets hold, in base64: `-----BEGIN`, `ssh-`, `{"`, `{` in a line, `AGE-SECRET-`, `# created`. */
const TWICE = /^(?:LS0tLS1CRUdJTi|c3NoL[WQ]|eyJ|ew[og]|QUdFLVNFQ1JFVC|IyBjcmVhdGVk)/;

/** Returns what is wrong with how a key, certificate or file was saved. */
export function encodingProblem(value: string): string | undefined {
  if (TWICE.test(value) && !/[^\w+/=\s]/.test(value))
    return 'is encoded in base64 twice; encode it once, or write it into stringData';
  return textProblem(value);
}

function textProblem(value: string): string | undefined {
  if (value.includes('\0'))
    return 'is binary or in UTF-16; write it as text in UTF-8, and keys and certificates as PEM';
  return value.startsWith('\uFEFF') ? 'begins with a byte order mark; save it as UTF-8 without one' : undefined;
}

/**
 * Returns why Flux cannot use the values of a Secret, with the key and the remedy; undefined if it can.
 * @param keys those that Flux reads of it
 */
export function valuesProblem(keys: readonly string[], data: Values): string | undefined {
  for (const key of keys) {
    const value = data[key];
    if (value === undefined) continue;
    const check = checks[key];
    // Tokens may look like base64.
    const isOpaque = check === word || check === noLineBreak;
    const problem = (isOpaque ? textProblem(value) : encodingProblem(value)) ?? check?.(value, data);
    if (problem !== undefined) return `${key} ${problem}`;
  }
  return undefined;
}
