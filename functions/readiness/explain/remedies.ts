import { FLUX_SOURCE } from '../../../shared/gardener/project-config.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';

/** Where the user has to mend a source or a root Kustomization. */
export interface Origin {
  from: 'flux-config' | 'providerConfig';
  /** With syncMode Once it is the user's own after the first success: what is wrong is mended in the shoot. */
  isReleased: boolean;
}

/** The words of remedies for one object: which key, which Secret, which deploy key. */
export interface Remedies {
  kind: string;
  url: string;
  host: string;
  /** What is asked for, for example `branch main`. */
  revision: string;
  path: string;
  /** Each names a place: `repositoryUrl of ConfigMap flux-config`. */
  places: Record<Place, string>;
  /** What gives Flux the right to read, for the protocol of the URL. */
  credentials: string;
  /** What makes it trust another key of an SSH server. */
  hostKeys: string;
  /** Which Secret gets a further key. */
  secret: string;
  /** Where the Secret for decryption comes from. */
  decryption: string;
}

type Place = 'url' | 'revision' | 'path' | 'interval' | 'timeout' | 'template' | 'suspend' | 'secretRef' | 'decryption';

/** The keys of flux-config; where it has none, only a providerConfig can set it. */
const fluxConfigKeys: Partial<Record<Place, string>> = {
  url: 'repositoryUrl',
  path: 'repositoryPath',
  interval: 'repositoryInterval',
  suspend: 'suspend',
  secretRef: 'repositoryType',
};

/** Below `spec` of the object itself. */
const specPaths: Record<Place, string> = {
  url: 'spec.url',
  revision: 'spec.ref',
  path: 'spec.path',
  interval: 'spec.interval',
  timeout: 'spec.timeout',
  template: 'spec',
  suspend: 'spec.suspend',
  secretRef: 'spec.secretRef',
  decryption: 'spec.decryption',
};

interface Spec {
  url?: string;
  endpoint?: string;
  bucketName?: string;
  path?: string;
  secretRef?: { name?: string };
  ref?: Partial<Record<'branch' | 'tag' | 'semver' | 'commit' | 'name' | 'digest', string>>;
  decryption?: { secretRef?: { name?: string } };
}

/** Pure: from an object and its origin to the words. */
export function remediesFor(object: KubeObject, origin: Origin): Remedies {
  const spec = (object.spec ?? {}) as Spec;
  const url = spec.url ?? spec.endpoint ?? '';
  return {
    kind: object.kind,
    url,
    host: hostOf(url),
    revision: revisionOf(spec),
    path: spec.path ?? './',
    places: placesOf(object, origin, spec),
    credentials: credentialsOf(object, origin, spec),
    hostKeys: hostKeysOf(object, origin, spec),
    secret: secretOf(object, origin, spec),
    decryption: decryptionOf(object, origin, spec),
  };
}

function placesOf(object: KubeObject, origin: Origin, spec: Spec): Record<Place, string> {
  const part = object.kind === 'Kustomization' ? 'kustomization' : 'source';
  const place = (name: Place): string => {
    const path = name === 'url' && spec.url === undefined ? 'spec.endpoint' : specPaths[name];
    if (origin.isReleased) return `${path} of ${nameOf(object)} in the shoot`;
    if (origin.from === 'providerConfig') {
      return name === 'suspend' ? 'suspend of the configuration' : `${part}.template.${path} of the providerConfig`;
    }
    const key = name === 'revision' ? revisionKey(spec) : fluxConfigKeys[name];
    return key === undefined ? `${part}.template.${path} of a providerConfig` : `${key} of ConfigMap flux-config`;
  };
  const names = Object.keys(specPaths) as Place[];
  return Object.fromEntries(names.map((name) => [name, place(name)])) as Record<Place, string>;
}

function revisionKey({ ref = {} }: Spec): string {
  if (ref.commit !== undefined) return 'repositoryCommit';
  if (ref.semver !== undefined) return 'repositorySemver';
  return ref.tag === undefined ? 'repositoryBranch' : 'repositoryTag';
}

/** Precedence as Flux has it (facts/flux.md 2.2). */
function revisionOf({ ref = {} }: Spec): string {
  const { commit, name, semver, tag, branch, digest } = ref;
  if (digest !== undefined) return `digest ${digest}`;
  if (commit !== undefined) return `commit ${commit}`;
  if (name !== undefined) return name;
  if (semver !== undefined) return `version ${semver}`;
  if (tag !== undefined) return `tag ${tag}`;
  return `branch ${branch ?? 'master'}`;
}

/** Secrets follow the configuration in every mode; another one that the user refers to later is their own. */
function isCopied(origin: Origin, { secretRef }: Spec): boolean {
  if (secretRef === undefined) return !origin.isReleased;
  return !origin.isReleased || origin.from === 'providerConfig' || secretRef.name === FLUX_SOURCE;
}

/** Which Secret the source reads, as the user knows it. */
function secretOf(object: KubeObject, origin: Origin, spec: Spec): string {
  const { secretRef } = spec;
  if (!isCopied(origin, spec)) {
    return secretRef === undefined
      ? `a Secret in the shoot, and name that as spec.secretRef of ${nameOf(object)}`
      : `Secret ${object.metadata.namespace}/${secretRef.name} in the shoot`;
  }
  if (origin.from === 'flux-config') return "Secret flux-source in the project's namespace";
  return secretRef === undefined
    ? 'a Secret, and name that as source.secretResourceName of the providerConfig'
    : 'the Secret that source.secretResourceName of the providerConfig refers to';
}

function hostKeysOf(object: KubeObject, origin: Origin, spec: Spec): string {
  return origin.from === 'flux-config' && isCopied(origin, spec)
    ? 'put its lines into knownHosts of ConfigMap flux-config'
    : `put its lines into key known_hosts of ${secretOf(object, origin, spec)}`;
}

function credentialsOf(object: KubeObject, origin: Origin, spec: Spec): string {
  const isSsh = spec.url?.startsWith('ssh://') === true;
  if (origin.from === 'flux-config' && isCopied(origin, spec)) {
    if (spec.secretRef === undefined) {
      return "set repositoryType of ConfigMap flux-config to private and put credentials into Secret flux-source in the project's namespace";
    }
    return isSsh
      ? "add the public key in annotation flux.extensions.gardener.cloud/public-key of Secret flux-source in the project's namespace to the repository as a deploy key"
      : "write username and password (a token) of somebody who may read it into Secret flux-source in the project's namespace";
  }
  const secret = secretOf(object, origin, spec);
  if (object.kind === 'OCIRepository') return `put .dockerconfigjson of somebody who may pull it into ${secret}`;
  if (object.kind === 'Bucket') return `put accesskey and secretkey of somebody who may read it into ${secret}`;
  return isSsh
    ? `put identity, the private half of a deploy key of the repository, into ${secret}`
    : `put username and password (a token), or bearerToken, of somebody who may read it into ${secret}`;
}

function decryptionOf(object: KubeObject, { from }: Origin, { decryption }: Spec): string {
  const name = decryption?.secretRef?.name;
  if (from === 'flux-config') {
    return name === undefined ? 'a Secret in the shoot' : `Secret ${object.metadata.namespace}/${name} in the shoot`;
  }
  const target = name === undefined ? '' : ` with targetName ${name}`;
  return `the Secret that an entry of additionalSecretResources${target} in the providerConfig refers to`;
}

function hostOf(url: string): string {
  // An endpoint of a Bucket has no scheme.
  return /^(?:[a-z0-9+.-]+:\/\/)?(?:[^@/]*@)?([^/]+)/i.exec(url)?.[1] ?? url;
}

/** `GitRepository flux-system/main-gitrepo`. */
export function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.namespace}/${metadata.name}`;
}
