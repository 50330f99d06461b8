import semver from 'semver';
import { isSsh } from '../checks.ts';
import { asObject } from '../values.ts';

/** The key that a Secret lacks, or the rest of `Secret … which …` with the remedy. */
export type KeyProblem = string | { sentence: string };

/**
 * Returns why Flux cannot use a Secret with these keys; undefined if it can.
 * @param keys the names of its keys; contents are never looked at
 * @param release the release of Flux, for example `v2.9.4`
 */
export type NeedsKeys = (keys: ReadonlySet<string>, release: string) => KeyProblem | undefined;

/** Returns the rest of `Secret … which …`. */
export function keySentence(problem: KeyProblem, kind = 'Secret'): string {
  return typeof problem === 'string'
    ? `has no ${problem}; add the key to the original of the ${kind}`
    : problem.sentence;
}

export const oneKey =
  (key: string): NeedsKeys =>
  (keys) =>
    keys.has(key) ? undefined : key;

const all =
  (...needed: string[]) =>
  (keys: ReadonlySet<string>): string | undefined =>
    needed.find((key) => !keys.has(key));

/** Credentials of a GitRepository, by its protocol. */
export function gitKeys(url: string, provider = 'generic'): NeedsKeys {
  if (provider === 'github') return githubAppKeys;
  const withoutApp = isSsh(url) ? all('identity', 'known_hosts') : httpsKeys;
  return (keys, release) =>
    provider === 'generic' && keys.has('githubAppID') && isAtLeast(release, 'v2.5.0')
      ? { sentence: 'has githubAppID; set provider to github, or remove the key from the original of the Secret' }
      : withoutApp(keys);
}

function httpsKeys(keys: ReadonlySet<string>): string | undefined {
  if (keys.has('bearerToken') || hasCertificate(keys)) return undefined;
  return keys.has('username') ? all('password')(keys) : 'username and password, or bearerToken';
}

const githubAppKeys: NeedsKeys = (keys, release) => {
  const hasId = keys.has('githubAppInstallationID');
  const hasOwner = keys.has('githubAppInstallationOwner') && isAtLeast(release, 'v2.8.0');
  if (hasId && hasOwner) {
    const both = 'has both githubAppInstallationID and githubAppInstallationOwner';
    return { sentence: `${both}; remove one of them from the original of the Secret` };
  }
  return all('githubAppID', 'githubAppPrivateKey')(keys) ?? (hasId || hasOwner ? undefined : 'githubAppInstallationID');
};

/** Public keys of those who sign commits. Flux reads a key of any name, as one of PGP unless it ends with `.sshpub`. */
export const commitSignatureKeys: NeedsKeys = (keys, release) => {
  const mayUseSsh = isAtLeast(release, 'v2.9.0');
  const usable = [...keys].filter((key) => mayUseSsh || !key.endsWith('.sshpub'));
  return usable.length > 0 ? undefined : `key that ends with .asc${mayUseSsh ? ' or .sshpub' : ''}`;
};

/** The key with which Flux signs its commits. */
export function signingKeys(type = 'gpg'): NeedsKeys | undefined {
  return type === 'gpg' ? oneKey('git.asc') : undefined;
}

/** What a webhook is checked with. */
export function receiverKeys(type: string): NeedsKeys {
  return (keys, release) =>
    type === 'gcr' && isAtLeast(release, 'v2.9.0') ? all('token', 'email', 'audience')(keys) : all('token')(keys);
}

function isAtLeast(release: string, first: string): boolean {
  return semver.compare(release, first) >= 0;
}

export const registryKeys: NeedsKeys = oneKey('.dockerconfigjson');

/** Credentials of a HelmRepository. */
export function helmKeys(url: string): NeedsKeys {
  const isOci = url.startsWith('oci://');
  return (keys) => {
    if ((isOci && keys.has('.dockerconfigjson')) || hasCertificate(keys)) return undefined;
    const missing = all('username', 'password')(keys);
    return missing && isOci ? '.dockerconfigjson' : missing;
  };
}

export const awsKeys: NeedsKeys = all('accesskey', 'secretkey');

export const azureKeys: NeedsKeys = (keys) =>
  ['accountKey', 'sasKey', 'clientId', 'tenantId'].some((key) => keys.has(key)) ? undefined : 'accountKey or sasKey';

export const certificateKeys: NeedsKeys = (keys) =>
  hasCertificate(keys) ? undefined : 'ca.crt, and no tls.crt with tls.key';

/** Older releases also read the names without dots. */
function hasCertificate(keys: ReadonlySet<string>): boolean {
  const hasPair = (certificate: string, key: string) => keys.has(certificate) && keys.has(key);
  return keys.has('ca.crt') || keys.has('caFile') || hasPair('tls.crt', 'tls.key') || hasPair('certFile', 'keyFile');
}

export const kubeConfigKeys: NeedsKeys = (keys) => (keys.has('value') || keys.has('value.yaml') ? undefined : 'value');

/** Keys of SOPS: age, PGP, and the credentials of key services. */
export const decryptionKeys: NeedsKeys = (keys) =>
  [...keys].some((key) => /\.(agekey|asc)$|^sops\./.test(key)) ? undefined : 'key that ends with .agekey or .asc';

const cosignKeys: NeedsKeys = (keys) =>
  [...keys].some((key) => key.endsWith('.pub')) ? undefined : 'key that ends with .pub';

const notationKeys: NeedsKeys = (keys) => {
  const hasCertificates = [...keys].some((key) => /\.(crt|pem)$/.test(key));
  return hasCertificates ? all('trustpolicy.json')(keys) : 'key that ends with .crt or .pem';
};

/** The keys for signatures, by the tool that made them. */
export function signatureKeys(verify: unknown): NeedsKeys {
  if (asObject(verify)?.provider === 'notation') return notationKeys;
  return cosignKeys;
}

/** Services that are reached at an address of the user's own, which may be secret. */
const WEBHOOKS: ReadonlySet<string> = new Set([
  'discord',
  'googlechat',
  'msteams',
  'rocket',
  'lark',
  'matrix',
  'grafana',
]);

/** Services that accept nothing but a token, and signed requests. */
const NEED_TOKEN: ReadonlySet<string> = new Set(['gitlab', 'gitea', 'generic-hmac', 'opsgenie', 'datadog']);

/** Credentials of a Provider. Others than these services have several ways to sign in. */
export function providerKeys(type: string, hasAddress: boolean): NeedsKeys {
  const hasToken = (keys: ReadonlySet<string>) => keys.has('token') || keys.has('address');
  return (keys) => {
    if (WEBHOOKS.has(type) && !hasAddress) return all('address')(keys);
    if (type === 'slack' && !hasAddress) return hasToken(keys) ? undefined : 'address';
    return NEED_TOKEN.has(type) ? all('token')(keys) : undefined;
  };
}
