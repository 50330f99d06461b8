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
  /** True: Flux does without the object if it is missing. */
  isOptional: boolean;
  /** Returns which key the Secret lacks; absent: it may have any. */
  needs?: NeedsKeys | undefined;
}

/**
 * Returns the Secrets and ConfigMaps that a Flux object refers to in its own namespace: every `secretRef` and `…SecretRef`
 * (or `configMapRef`), and every `{kind: Secret, name}` of a list such as `postBuild.substituteFrom`.
 */
export function secretUses(object: KubeObject): SecretUse[] {
  return usesIn(object.spec, '', 'spec', object);
}

/** @param field the last part of the path; `valuesFrom[]` for an entry of `valuesFrom` */
function usesIn(value: unknown, field: string, path: string, object: KubeObject): SecretUse[] {
  if (Array.isArray(value))
    return value.flatMap((entry, index) => usesIn(entry, `${field}[]`, `${path}[${index}]`, object));
  const fields = asObject(value);
  // The values of a chart may have fields of any name.
  if (fields === undefined || field === 'values' || fields.$patch === 'delete') return [];
  const below = Object.entries(fields).flatMap(([name, inner]) => usesIn(inner, name, `${path}.${name}`, object));
  const isOfPods = POD_OWNERS.has(object.kind);
  const kind = (isOfPods ? ofPods[field] : undefined) ?? kindOf(field, fields);
  const name = asString(fields.secretName) ?? asString(fields.name);
  if (kind === undefined || name === undefined) return below;
  const isOptional = (isOfPods || field.endsWith('From[]')) && fields.optional === true;
  const needs = isOfPods ? keysOfPods(fields) : needsOf(object, path, fields);
  return [{ kind, name, path, isOptional, needs: isOptional ? undefined : needs }, ...below];
}

/** The kind under which a patch of the installation is searched like an object. */
export const PATCH = 'Patch';

const POD_OWNERS: ReadonlySet<string> = new Set([PATCH, 'Pod']);

/** Fields of Pods beside `secretRef` and `configMapRef` of `envFrom`. */
const ofPods: Readonly<Record<string, CopyKind>> = {
  secretKeyRef: 'Secret',
  configMapKeyRef: 'ConfigMap',
  // A volume, or a part of a projected one.
  secret: 'Secret',
  configMap: 'ConfigMap',
  'imagePullSecrets[]': 'Secret',
};

/** A variable reads one key, a volume those of its `items`. */
function keysOfPods({ key, items }: JsonObject): NeedsKeys {
  const entries = Array.isArray(items) ? items : [{ key }];
  return all(...entries.flatMap((entry) => asString(asObject(entry)?.key) ?? []));
}

function kindOf(field: string, { kind }: JsonObject): CopyKind | undefined {
  if (field.endsWith('From[]')) return kind === 'Secret' || kind === 'ConfigMap' ? kind : undefined;
  if (field === 'secretRef' || field.endsWith('SecretRef')) return 'Secret';
  return field === 'configMapRef' || field.endsWith('ConfigMapRef') ? 'ConfigMap' : undefined;
}

function needsOf({ kind, spec }: KubeObject, path: string, { valuesKey }: JsonObject): NeedsKeys | undefined {
  const fields = asObject(spec) ?? {};
  if (path === 'spec.secretRef') return credentials[kind]?.(fields);
  if (!path.endsWith(']')) return otherKeys[path.slice('spec.'.length)]?.(fields, kind);
  const key = asString(valuesKey) ?? (kind === 'HelmRelease' ? 'values.yaml' : undefined);
  return key === undefined ? undefined : all(key);
}

/** The keys of the credentials in `secretRef`, by kind. */
const credentials: Readonly<Record<string, (spec: JsonObject) => NeedsKeys>> = {
  GitRepository: ({ url, provider }) => gitKeys(asString(url) ?? '', asString(provider)),
  OCIRepository: () => all('.dockerconfigjson'),
  Bucket: bucketKeys,
  HelmRepository: ({ url }) => helmKeys(asString(url) ?? ''),
  ImageRepository: () => all('.dockerconfigjson'),
  Provider: ({ type, address }) => providerKeys(asString(type) ?? '', address !== undefined),
  Receiver: ({ type }) => receiverKeys(asString(type) ?? ''),
};

/** The keys of other Secrets, by the path in `spec`. */
const otherKeys: Readonly<Record<string, (spec: JsonObject, kind: string) => NeedsKeys | undefined>> = {
  proxySecretRef: () => all('address'),
  certSecretRef: () => certificateKeys,
  'sts.certSecretRef': () => certificateKeys,
  'verify.secretRef': ({ verify }, kind) => (kind === 'GitRepository' ? commitSignatureKeys : signatureKeys(verify)),
  'chart.spec.verify.secretRef': (spec) => signatureKeys(valueAt(spec, 'chart.spec.verify')),
  'verify.trustedRootSecretRef': () => all('trusted_root.json'),
  // The key with which Flux signs its commits.
  'git.commit.signingKey.secretRef': (spec) =>
    (valueAt(spec, 'git.commit.signingKey.type') ?? 'gpg') === 'gpg' ? all('git.asc') : undefined,
  'decryption.secretRef': () => decryptionKeys,
  'kubeConfig.secretRef': (spec) => {
    const key = asString(valueAt(spec, 'kubeConfig.secretRef.key'));
    return key === undefined ? kubeConfigKeys : all(key);
  },
};

function bucketKeys({ provider }: JsonObject): NeedsKeys {
  if (provider === 'gcp') return all('serviceaccount');
  return provider === 'azure' ? azureKeys : all('accesskey', 'secretkey');
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

/** Returns which key for HTTPS is missing. A certificate alone is enough: the repository may be open, behind a private CA. */
export function httpsKeys(keys: ReadonlySet<string>): string | undefined {
  if (keys.has('bearerToken')) return undefined;
  if (keys.has('username') || keys.has('password')) return all('username', 'password')(keys);
  return hasCertificate(keys) ? undefined : 'username and password, or bearerToken';
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
