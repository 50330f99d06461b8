import semver from 'semver';
import type { KubeObject } from '../../kube/resource.ts';
import { isSsh } from '../checks.ts';
import type { CopyKind } from '../shoot-resources.ts';
import { asObject, asString, type JsonObject, valueAt } from '../values.ts';

/** A field that names a Secret or ConfigMap in the namespace of its object. */
interface SecretUse {
  kind: CopyKind;
  name: string;
  /** The path of the field that holds the reference, such as `spec.secretRef`. */
  path: string;
  /** Returns which key the Secret lacks; absent: it may have any. */
  needs?: NeedsKeys | undefined;
}

type Reader = (spec: JsonObject) => (SecretUse | undefined)[];

/** Returns the Secrets and ConfigMaps that an object needs. Fields of kinds that are unknown here are not checked. */
export function secretUses({ kind, spec }: KubeObject): SecretUse[] {
  const fields = asObject(spec);
  const uses = fields === undefined ? [] : (readers[kind]?.(fields) ?? []);
  return uses.filter((use) => use !== undefined);
}

const readers: Readonly<Record<string, Reader>> = {
  GitRepository: (spec) => [
    secret(spec, 'secretRef', gitKeys(asString(spec.url) ?? '', asString(spec.provider))),
    secret(spec, 'proxySecretRef', all('address')),
    secret(spec, 'verify.secretRef', commitSignatureKeys),
  ],
  OCIRepository: (spec) => [
    ...registry(spec),
    secret(spec, 'verify.secretRef', signatureKeys(spec.verify)),
    secret(spec, 'verify.trustedRootSecretRef', all('trusted_root.json')),
  ],
  Bucket: (spec) => [
    secret(spec, 'secretRef', bucketKeys(spec)),
    secret(spec, 'certSecretRef', certificateKeys),
    secret(spec, 'proxySecretRef', all('address')),
    secret(spec, 'sts.secretRef'),
    secret(spec, 'sts.certSecretRef', certificateKeys),
  ],
  HelmRepository: (spec) => [
    secret(spec, 'secretRef', helmKeys(asString(spec.url) ?? '')),
    secret(spec, 'certSecretRef', certificateKeys),
  ],
  HelmChart: (spec) => [secret(spec, 'verify.secretRef', signatureKeys(spec.verify))],
  ImageRepository: registry,
  ImageUpdateAutomation: (spec) => {
    const path = 'git.commit.signingKey';
    return [secret(spec, `${path}.secretRef`, signingKeys(asString(asObject(valueAt(spec, path))?.type)))];
  },
  Kustomization: (spec) => [
    secret(spec, 'decryption.secretRef', decryptionKeys),
    ...kubeConfig(spec),
    ...values(asObject(spec.postBuild)?.substituteFrom, 'spec.postBuild.substituteFrom'),
  ],
  HelmRelease: (spec) => [
    secret(spec, 'chart.spec.verify.secretRef', signatureKeys(valueAt(spec, 'chart.spec.verify'))),
    ...kubeConfig(spec),
    ...values(spec.valuesFrom, 'spec.valuesFrom', 'values.yaml'),
  ],
  Provider: (spec) => [
    secret(spec, 'secretRef', providerKeys(asString(spec.type) ?? '', spec.address !== undefined)),
    secret(spec, 'certSecretRef', certificateKeys),
    secret(spec, 'proxySecretRef', all('address')),
  ],
  Receiver: (spec) => [secret(spec, 'secretRef', receiverKeys(asString(spec.type) ?? ''))],
};

function registry(spec: JsonObject): (SecretUse | undefined)[] {
  return [
    secret(spec, 'secretRef', all('.dockerconfigjson')),
    secret(spec, 'certSecretRef', certificateKeys),
    secret(spec, 'proxySecretRef', all('address')),
  ];
}

function bucketKeys({ provider }: JsonObject): NeedsKeys {
  if (provider === 'gcp') return all('serviceaccount');
  return provider === 'azure' ? azureKeys : all('accesskey', 'secretkey');
}

function kubeConfig(spec: JsonObject): (SecretUse | undefined)[] {
  const key = asString(asObject(asObject(spec.kubeConfig)?.secretRef)?.key);
  return [
    secret(spec, 'kubeConfig.secretRef', key === undefined ? kubeConfigKeys : all(key)),
    reference('ConfigMap', spec, 'kubeConfig.configMapRef'),
  ];
}

/** @param defaultKey the key that is read if the entry names none; absent: all keys are read */
function values(entries: unknown, path: string, defaultKey?: string): (SecretUse | undefined)[] {
  const list = Array.isArray(entries) ? entries.map(asObject) : [];
  return list.map((entry, index) => {
    const kind = entry?.kind;
    const name = asString(entry?.name);
    const isOptional = entry?.optional === true || (kind !== 'Secret' && kind !== 'ConfigMap') || name === undefined;
    if (isOptional) return undefined;
    const key = asString(entry?.valuesKey) ?? defaultKey;
    return { kind, name, path: `${path}[${index}]`, needs: key === undefined ? undefined : all(key) };
  });
}

function secret(spec: JsonObject, path: string, needs?: NeedsKeys): SecretUse | undefined {
  return reference('Secret', spec, path, needs);
}

function reference(kind: CopyKind, spec: JsonObject, path: string, needs?: NeedsKeys): SecretUse | undefined {
  const name = asString(asObject(valueAt(spec, path))?.name);
  return name === undefined ? undefined : { kind, name, path: `spec.${path}`, ...(needs && { needs }) };
}

/** The key that a Secret lacks, or the rest of `Secret … which …` with the remedy. */
type KeyProblem = string | { sentence: string };

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

const all =
  (...needed: string[]) =>
  (keys: ReadonlySet<string>): string | undefined =>
    needed.find((key) => !keys.has(key));

/** Credentials of a GitRepository, by its protocol. */
function gitKeys(url: string, provider = 'generic'): NeedsKeys {
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
const commitSignatureKeys: NeedsKeys = (keys, release) => {
  const mayUseSsh = isAtLeast(release, 'v2.9.0');
  const usable = [...keys].filter((key) => mayUseSsh || !key.endsWith('.sshpub'));
  return usable.length > 0 ? undefined : `key that ends with .asc${mayUseSsh ? ' or .sshpub' : ''}`;
};

/** The key with which Flux signs its commits. */
function signingKeys(type = 'gpg'): NeedsKeys | undefined {
  return type === 'gpg' ? all('git.asc') : undefined;
}

/** What a webhook is checked with. */
function receiverKeys(type: string): NeedsKeys {
  return (keys, release) =>
    type === 'gcr' && isAtLeast(release, 'v2.9.0') ? all('token', 'email', 'audience')(keys) : all('token')(keys);
}

function isAtLeast(release: string, first: string): boolean {
  return semver.compare(release, first) >= 0;
}

/** Credentials of a HelmRepository. */
function helmKeys(url: string): NeedsKeys {
  const isOci = url.startsWith('oci://');
  return (keys) => {
    if ((isOci && keys.has('.dockerconfigjson')) || hasCertificate(keys)) return undefined;
    const missing = all('username', 'password')(keys);
    return missing && isOci ? '.dockerconfigjson' : missing;
  };
}

const azureKeys: NeedsKeys = (keys) =>
  ['accountKey', 'sasKey', 'clientId', 'tenantId'].some((key) => keys.has(key)) ? undefined : 'accountKey or sasKey';

const certificateKeys: NeedsKeys = (keys) => (hasCertificate(keys) ? undefined : 'ca.crt, and no tls.crt with tls.key');

/** Older releases also read the names without dots. */
function hasCertificate(keys: ReadonlySet<string>): boolean {
  const hasPair = (certificate: string, key: string) => keys.has(certificate) && keys.has(key);
  return keys.has('ca.crt') || keys.has('caFile') || hasPair('tls.crt', 'tls.key') || hasPair('certFile', 'keyFile');
}

const kubeConfigKeys: NeedsKeys = (keys) => (keys.has('value') || keys.has('value.yaml') ? undefined : 'value');

/** Keys of SOPS: age, PGP, and the credentials of key services. */
const decryptionKeys: NeedsKeys = (keys) =>
  [...keys].some((key) => /\.(agekey|asc)$|^sops\./.test(key)) ? undefined : 'key that ends with .agekey or .asc';

const cosignKeys: NeedsKeys = (keys) =>
  [...keys].some((key) => key.endsWith('.pub')) ? undefined : 'key that ends with .pub';

const notationKeys: NeedsKeys = (keys) => {
  const hasCertificates = [...keys].some((key) => /\.(crt|pem)$/.test(key));
  return hasCertificates ? all('trustpolicy.json')(keys) : 'key that ends with .crt or .pem';
};

/** The keys for signatures, by the tool that made them. */
function signatureKeys(verify: unknown): NeedsKeys {
  return asObject(verify)?.provider === 'notation' ? notationKeys : cosignKeys;
}

/** Services that are reached at an address of the user's own, which may be secret. */
const WEBHOOK = /^(discord|googlechat|msteams|rocket|lark|matrix|grafana)$/;

/** Services that accept nothing but a token, and signed requests. */
const NEEDS_TOKEN = /^(gitlab|gitea|generic-hmac|opsgenie|datadog)$/;

/** Credentials of a Provider. Others than these services have several ways to sign in. */
function providerKeys(type: string, hasAddress: boolean): NeedsKeys {
  const hasToken = (keys: ReadonlySet<string>) => keys.has('token') || keys.has('address');
  return (keys) => {
    if (WEBHOOK.test(type) && !hasAddress) return all('address')(keys);
    if (type === 'slack' && !hasAddress) return hasToken(keys) ? undefined : 'address';
    return NEEDS_TOKEN.test(type) ? all('token')(keys) : undefined;
  };
}
