import { isSsh } from '../../../shared/config/checks.ts';
import {
  FLUX_REGISTRY,
  FLUX_SOURCE,
  projectSecretBehind,
  ROTATE_START,
} from '../../../shared/config/project-config.ts';
import { needsCertificate } from '../../../shared/config/project-secret-content.ts';
import { NO_TARGET_NAMESPACE } from '../../../shared/config/target-namespace.ts';
import { OPERATION_ANNOTATION } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { gitHost } from '../../../shared/ssh/git-hosts.ts';
import { scannedLines, sshHost } from '../../../shared/ssh/known-hosts.ts';
import { type Spec, specOf } from '../seen.ts';
import { listedPlace, nameOf, type Origin, placesOf, specPaths } from './places.ts';

/** An entry of a failure table: how Flux words the failure, and how the condition explains it. */
export interface Failure {
  /** Reason of the condition. Reasons are API: users and alerts match them. */
  reason: string;
  /** The kind of objects that the entry applies to; absent: all kinds of the table. */
  kind?: string;
  /** Matches the message of Flux. */
  matches: RegExp;
  /** The first half of the sentence `<object>: <what>; <remedy>.` */
  what: Clause;
  /** The second half. */
  remedy: Clause;
  /** No user has to correct anything: Flux waits for another object, or retries. Such failures carry no error code. */
  isTransient?: true;
}

/** Returns entries that apply to one kind of the table's objects. */
export const ofKind = (kind: string, failures: Failure[]): Failure[] => failures.map((one) => ({ ...one, kind }));

/** In a text, `$1` is the first group of the match, and `{places.url}` one of the `Remedies`. */
export type Clause = string | ((found: RegExpExecArray, remedies: Remedies) => string);

/** The names that remedies for one object refer to: its configuration keys, Secrets and deploy key. */
export type Remedies = ReturnType<typeof remediesFor>;

/** Returns the names that remedies for the object refer to. */
export function remediesFor(object: KubeObject, origin: Origin) {
  const spec = specOf(object);
  const url = spec.url ?? spec.endpoint ?? spec.image ?? '';
  return {
    ...{ kind: object.kind, url, host: hostOf(url), path: spec.path ?? './' },
    /** The requested revision, for example `branch main`. */
    revision: revisionOf(spec),
    /** Where each field is configured, for example `repositoryUrl in ConfigMap flux-config`. */
    places: placesOf(object, origin, spec),
    credentials: credentialsOf(object, origin, spec),
    hostKeys: hostKeysOf(object, origin, spec),
    /** The Secret that holds the credentials, and its name in the shoot. */
    ...{ secret: secretOf(object, origin, spec), secretName: spec.secretRef?.name },
    authority: authorityOf(object, origin, spec),
    proxy: proxyOf(object, origin, spec),
    /** Returns the Secret that the user edits, by its name in the shoot. */
    secretNamed: (name: string) => secretNamed(object, origin, spec, name),
    projectSecret,
    /** How a Secret that a field refers to comes into the shoot. */
    bring: origin.isReleased ? 'create it there' : 'copy it there with additionalSecretResources',
    /** Where to look for the reason why a source has no artifact. */
    sourceToCheck: sourceToCheck(origin, spec),
    decryption: decryptionOf(object, origin, spec),
    /** What puts all objects into one namespace, and how to leave each in its own. */
    oneNamespace: oneNamespaceOf(origin, spec),
    ownNamespaces: ownNamespacesOf(object, origin, spec),
  };
}

/** The same precedence as in Flux (docs/flux-facts.md, Sources and Secrets). */
function revisionOf({ ref = {} }: Spec): string {
  const { commit, name, semver, tag, branch, digest } = ref;
  if (digest !== undefined) return `digest ${digest}`;
  if (commit !== undefined) return `commit ${commit}`;
  if (name !== undefined) return name;
  if (semver !== undefined) return `version ${semver}`;
  if (tag !== undefined) return `tag ${tag}`;
  return `branch ${branch ?? 'master'}`;
}

/** The condition SourceReady is about the source of the root Kustomization. */
function sourceToCheck({ place }: Origin, { sourceRef = {} }: Spec): string {
  const { kind, name } = sourceRef;
  return place === undefined || kind === undefined || name === undefined ? 'condition SourceReady' : `${kind} ${name}`;
}

function hostOf(url: string): string {
  // The endpoint of a Bucket has no scheme.
  return /^(?:[a-z0-9+.-]+:\/\/)?(?:[^@/]*@)?([^/]+)/i.exec(url)?.[1] ?? url;
}

/** Secrets follow the configuration in every sync mode, unless the user has referenced a Secret of their own since. */
function isCopied(origin: Origin, { secretRef }: Spec): boolean {
  if (secretRef === undefined) return !origin.isReleased;
  return !origin.isReleased || origin.from === 'providerConfig' || secretRef.name === FLUX_SOURCE;
}

/** Returns the original of a Secret that has wired itself: no field of the configuration refers to it. */
function projectSecret(name: string | undefined): string | undefined {
  const original = projectSecretBehind(name);
  return original && `Secret ${original} in the project's namespace`;
}

const originalOf = ({ metadata }: KubeObject, name = '') => `the original of Secret ${metadata.namespace}/${name}`;

const FLUX_CONFIG_SECRET = "Secret flux-source in the project's namespace";

/** The Secret that the user edits: the original of a copied Secret, or the one in the shoot. */
function secretOf(object: KubeObject, origin: Origin, spec: Spec): string {
  const { secretRef } = spec;
  const ofProject = projectSecret(secretRef?.name);
  if (ofProject !== undefined) return ofProject;
  if (origin.place !== undefined) {
    return secretRef === undefined
      ? `a new Secret that you reference as ${listedPlace(origin.place, specPaths.secretRef)}`
      : originalOf(object, secretRef.name);
  }
  if (!isCopied(origin, spec)) {
    return secretRef === undefined
      ? `a new Secret in the shoot that you reference as spec.secretRef of ${nameOf(object)}`
      : `Secret ${object.metadata.namespace}/${secretRef.name} in the shoot`;
  }
  if (origin.from === 'flux-config') {
    return secretRef === undefined
      ? `${FLUX_CONFIG_SECRET}, and set repositoryType in ConfigMap flux-config to private`
      : FLUX_CONFIG_SECRET;
  }
  return secretRef === undefined
    ? 'a new Secret that you reference as source.secretResourceName of the providerConfig'
    : 'the Secret that source.secretResourceName of the providerConfig refers to';
}

/** Returns the Secret with the certificate of an authority. Only Git repositories have it beside the credentials. */
function authorityOf(object: KubeObject, origin: Origin, spec: Spec): string {
  if (object.kind === 'GitRepository') return secretOf(object, origin, spec);
  const path = 'spec.certSecretRef';
  const { certSecretRef } = spec;
  if (certSecretRef !== undefined) return projectSecret(certSecretRef.name) ?? originalOf(object, certSecretRef.name);
  const ofProject = origin.isReleased || !needsCertificate(object) ? undefined : projectSecret(FLUX_REGISTRY);
  if (ofProject !== undefined) return ofProject;
  if (origin.place !== undefined) return `a new Secret that you reference as ${listedPlace(origin.place, path)}`;
  return origin.isReleased
    ? `a new Secret in the shoot that you reference as ${path} of ${nameOf(object)}`
    : `a new Secret that you copy with additionalSecretResources and reference as source.template.${path} of the providerConfig`;
}

/** Returns the Secret of that name that the user edits. */
function secretNamed(object: KubeObject, origin: Origin, spec: Spec, name: string): string {
  if (name === spec.secretRef?.name) return secretOf(object, origin, spec);
  if (origin.isReleased) return `Secret ${object.metadata.namespace}/${name} in the shoot`;
  return projectSecret(name) ?? originalOf(object, name);
}

/** Returns where the proxy of an object is configured: a Secret of its own, or the option of all controllers. */
function proxyOf(object: KubeObject, origin: Origin, spec: Spec): string {
  return spec.proxySecretRef?.name === undefined
    ? 'flux.proxy (in config.yaml of ConfigMap flux-config, in the providerConfig, or in the defaults of the landscape)'
    : `address, username and password in ${secretNamed(object, origin, spec, spec.proxySecretRef.name)}`;
}

/** Returns how to make Flux trust the host keys of an SSH server: `put … into …`. */
function hostKeysOf(object: KubeObject, origin: Origin, spec: Spec): string {
  const url = spec.url ?? '';
  const lines = isSsh(url) && URL.canParse(url) ? scannedLines(sshHost(url)) : "the server's host keys";
  return origin.from === 'flux-config' && isCopied(origin, spec)
    ? `put ${lines} into knownHosts in ConfigMap flux-config`
    : `put ${lines} into known_hosts in ${secretOf(object, origin, spec)}`;
}

const CLOUDS: readonly string[] = ['aws', 'azure', 'gcp'];

/** The credentials in a Secret, by kind: `put … with read access into Secret …`. */
const credentialKeys: Readonly<Record<string, (spec: Spec) => string>> = {
  OCIRepository: () => '.dockerconfigjson',
  ImageRepository: () => '.dockerconfigjson',
  Bucket: ({ provider }) => {
    if (provider === 'azure') return 'accountKey or sasKey';
    return provider === 'gcp' ? 'serviceaccount' : 'accesskey and secretkey';
  },
  HelmRepository: ({ url = '' }) => (url.startsWith('oci:') ? '.dockerconfigjson' : 'username and password'),
};

/** Returns how to give Flux read access, depending on kind, provider and protocol. */
function credentialsOf(object: KubeObject, origin: Origin, spec: Spec): string {
  const { url = '', provider = '', secretRef } = spec;
  const secret = secretOf(object, origin, spec);
  // A Bucket with a Secret uses that (source-controller, `internal/controller/bucket_controller.go`).
  if (CLOUDS.includes(provider) && (object.kind !== 'Bucket' || secretRef === undefined)) {
    return `give the identity that Flux has with provider ${provider} read access`;
  }
  if (provider === 'github' && object.kind === 'GitRepository') {
    return `check the GitHub App in ${secret}, and that it is installed on the repository with read access to contents`;
  }
  if (isSsh(url)) return sshCredentials(object, origin, spec, secret);
  const keys = credentialKeys[object.kind]?.(spec) ?? 'username and password (a token), or bearerToken,';
  return `put ${keys} with read access into ${secret}`;
}

function sshCredentials(object: KubeObject, origin: Origin, spec: Spec, secret: string): string {
  const { url = '', secretRef } = spec;
  const host = gitHost(url);
  const place = host.at('the repository', placesOf(object, origin, spec).url);
  if (origin.from !== 'flux-config' || !isCopied(origin, spec) || secretRef === undefined) {
    const type = host.keyType === undefined ? 'a private key' : 'an RSA private key';
    return `put ${type} (identity) into ${secret}, and add its public key ${place}`;
  }
  const key = `add the public key (annotation flux.extensions.gardener.cloud/public-key of ${secret}) ${place}`;
  const rotate = `annotate ConfigMap flux-config with ${OPERATION_ANNOTATION}=${ROTATE_START} to replace it`;
  return host.keyType === undefined ? key : `${key}; if it is no RSA key, ${rotate}`;
}

function oneNamespaceOf({ keepsNamespace }: Origin, { targetNamespace }: Spec): string {
  if (targetNamespace === undefined) return 'the field namespace of a kustomization.yaml';
  return `targetNamespace ${targetNamespace}${keepsNamespace === true ? ', which nobody has chosen,' : ''}`;
}

/** What is only removed from `flux-config` stays in a Shoot that runs with it, so there the remedy is another value. */
function ownNamespacesOf(object: KubeObject, origin: Origin, spec: Spec): string {
  const { path = './', targetNamespace } = spec;
  const build = `"kustomize build ${path}"`;
  if (targetNamespace === undefined) return `remove that field, and check the result with ${build}`;
  const { targetNamespace: place } = placesOf(object, origin, spec);
  const isOfProject = origin.from === 'flux-config' && !origin.isReleased && origin.place === undefined;
  const patched = origin.patched?.[specPaths.targetNamespace] && 'null';
  const remedy = isOfProject ? `set ${place} to ${patched ?? NO_TARGET_NAMESPACE}` : `remove ${place}`;
  return `${remedy} (${build} fails only with "namespace: ${targetNamespace}" in kustomization.yaml)`;
}

/** Returns the Secret that holds the decryption keys. */
function decryptionOf(object: KubeObject, { from, place }: Origin, { decryption }: Spec): string {
  const name = decryption?.secretRef?.name;
  const ofProject = projectSecret(name);
  if (ofProject !== undefined) return ofProject;
  if (place !== undefined && name !== undefined) return originalOf(object, name);
  if (from === 'flux-config') {
    // `sopsAgeSecret` names a Secret in the shoot, and a patch in config.yaml one that may be copied there.
    const original = ' (or its original, if it is a copy)';
    return name === undefined
      ? 'a Secret in the shoot'
      : `Secret ${object.metadata.namespace}/${name} in the shoot${original}`;
  }
  const target = name === undefined ? '' : ` with targetName ${name}`;
  return `the Secret that an entry of additionalSecretResources${target} in the providerConfig refers to`;
}
