import { isSsh } from '../checks.ts';
import { asObject } from '../values.ts';

/**
 * Returns what a Secret with these keys lacks, as the rest of `Secret … has no …`; undefined if Flux can use it.
 * @param keys the names of its keys; contents are never looked at
 */
export type NeedsKeys = (keys: ReadonlySet<string>) => string | undefined;

export const oneKey =
  (key: string): NeedsKeys =>
  (keys) =>
    keys.has(key) ? undefined : key;

const all =
  (...needed: string[]): NeedsKeys =>
  (keys) =>
    needed.find((key) => !keys.has(key));

/** Credentials of a GitRepository, by its protocol. */
export function gitKeys(url: string, provider = 'generic'): NeedsKeys {
  if (provider === 'github') return githubAppKeys;
  if (isSsh(url)) return all('identity', 'known_hosts');
  return (keys) => {
    if (keys.has('bearerToken') || hasCertificate(keys)) return undefined;
    if (keys.has('githubAppID')) return githubAppKeys(keys);
    return keys.has('username') ? oneKey('password')(keys) : 'username and password, or bearerToken';
  };
}

const githubAppKeys: NeedsKeys = (keys) => {
  const installation = keys.has('githubAppInstallationID') || keys.has('githubAppInstallationOwner');
  return all('githubAppID', 'githubAppPrivateKey')(keys) ?? (installation ? undefined : 'githubAppInstallationID');
};

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

/** The keys for signatures, by the tool that made them. */
export function signatureKeys(verify: unknown): NeedsKeys {
  if (asObject(verify)?.provider === 'notation') {
    return (keys) => {
      const hasCertificates = [...keys].some((key) => /\.(crt|pem)$/.test(key));
      return hasCertificates ? oneKey('trustpolicy.json')(keys) : 'key that ends with .crt or .pem';
    };
  }
  return (keys) => ([...keys].some((key) => key.endsWith('.pub')) ? undefined : 'key that ends with .pub');
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
    if (WEBHOOKS.has(type) && !hasAddress) return oneKey('address')(keys);
    if (type === 'slack' && !hasAddress) return hasToken(keys) ? undefined : 'address';
    return NEED_TOKEN.has(type) ? oneKey('token')(keys) : undefined;
  };
}
