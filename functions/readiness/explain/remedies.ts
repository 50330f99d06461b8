import { fluxConfigKey } from '../../../shared/config/flux-config-fields.ts';
import type { Place } from '../../../shared/config/place.ts';
import { FLUX_SOURCE } from '../../../shared/gardener/project-config.ts';
import { fieldsAt, textAt } from '../../../shared/gardener/shapes.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';

/** Where the user can correct a source or a root Kustomization. */
export interface Origin {
  from: 'flux-config' | 'providerConfig';
  /** The sync mode has released the object: it is the user's own and has to be corrected in the shoot. */
  isReleased: boolean;
  /** Where the object is written, if neither in keys of `flux-config` nor as `template` of a providerConfig. */
  place?: Place | undefined;
  /** Where patches set fields of the root Kustomization, by their paths in the object. */
  patched?: Readonly<Record<string, Place>> | undefined;
}

/** The names that remedies for one object refer to: its configuration keys, Secrets and deploy key. */
export interface Remedies {
  kind: string;
  url: string;
  host: string;
  /** The requested revision, for example `branch main`. */
  revision: string;
  path: string;
  /** Where each field is configured, for example `repositoryUrl in ConfigMap flux-config`. */
  places: Record<Field, string>;
  /** How to give Flux read access, depending on the protocol of the URL: `put … into Secret …`. */
  credentials: string;
  /** How to make Flux trust the host keys of an SSH server: `put … into …`. */
  hostKeys: string;
  /** The Secret that holds the credentials. */
  secret: string;
  /** The Secret that holds the decryption keys. */
  decryption: string;
}

type Field =
  | 'url'
  | 'provider'
  | 'revision'
  | 'path'
  | 'interval'
  | 'timeout'
  | 'template'
  | 'suspend'
  | 'secretRef'
  | 'decryption';

/** Paths in the object itself. */
const specPaths: Record<Field, string> = {
  url: 'spec.url',
  provider: 'spec.provider',
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

/** Returns the names that remedies for the object refer to. */
export function remediesFor(object: KubeObject, origin: Origin): Remedies {
  const spec = specOf(object);
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

const refFields = ['branch', 'tag', 'semver', 'commit', 'name', 'digest'] as const;

/** The fields that remedies name, where they are texts: the owner of a shoot may write anything into them. */
function specOf({ spec }: KubeObject): Spec {
  const texts = ['url', 'endpoint', 'bucketName', 'path'].map((name) => [name, textAt(spec, name)]);
  const ref = refFields.map((name) => [name, textAt(spec, 'ref', name)]);
  const secretRef = fieldsAt(spec, 'secretRef');
  const decryption = textAt(spec, 'decryption', 'secretRef', 'name');
  return {
    ...defined(texts),
    ref: defined(ref),
    ...(secretRef && { secretRef: defined([['name', textAt(secretRef, 'name')]]) }),
    ...(decryption !== undefined && { decryption: { secretRef: { name: decryption } } }),
  };
}

function defined(entries: (string | undefined)[][]): Record<string, string> {
  return Object.fromEntries(entries.filter(([, text]) => text !== undefined)) as Record<string, string>;
}

function placesOf(object: KubeObject, origin: Origin, spec: Spec): Record<Field, string> {
  const part = object.kind === 'Kustomization' ? 'kustomization' : 'source';
  const place = (name: Field): string => {
    const path = name === 'url' && spec.url === undefined ? 'spec.endpoint' : specPaths[name];
    if (origin.isReleased) return `${path} of ${nameOf(object)} in the shoot`;
    const patch = origin.patched?.[path];
    if (patch !== undefined) return `${patch.path} of ${configurationName(patch)}`;
    if (origin.place !== undefined) return listedPlace(origin.place, path);
    if (origin.from === 'providerConfig') {
      return name === 'suspend' ? 'suspend in the configuration' : `${part}.template.${path} of the providerConfig`;
    }
    const key = fluxConfigKey(
      name === 'suspend' ? 'suspend' : `${part}.${name === 'revision' ? revisionPath(spec) : path}`,
    );
    return key === undefined
      ? `${part}.template.${path} of a ${part} in the providerConfig (flux-config cannot set it)`
      : `${key} in ConfigMap flux-config`;
  };
  const names = Object.keys(specPaths) as Field[];
  return Object.fromEntries(names.map((name) => [name, place(name)])) as Record<Field, string>;
}

function configurationName({ object }: Place): string {
  return object === 'providerConfig' ? 'the providerConfig' : object;
}

function listedPlace(written: Place, field: string): string {
  const place = `${written.path}.${field} of ${configurationName(written)}`;
  return field === specPaths.suspend ? `${place}, or suspend in the configuration,` : place;
}

/** The field of the revision that counts; without any, the branch. */
function revisionPath({ ref = {} }: Spec): string {
  const field = (['commit', 'semver', 'tag'] as const).find((name) => ref[name] !== undefined);
  return `spec.ref.${field ?? 'branch'}`;
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

/** Secrets follow the configuration in every sync mode, unless the user has referenced a Secret of their own since. */
function isCopied(origin: Origin, { secretRef }: Spec): boolean {
  if (secretRef === undefined) return !origin.isReleased;
  return !origin.isReleased || origin.from === 'providerConfig' || secretRef.name === FLUX_SOURCE;
}

/** The Secret that the user edits: the original of a copied Secret, or the one in the shoot. */
function secretOf(object: KubeObject, origin: Origin, spec: Spec): string {
  const { secretRef } = spec;
  if (origin.place !== undefined) {
    return secretRef === undefined
      ? `a new Secret that you reference as ${listedPlace(origin.place, specPaths.secretRef)}`
      : `the original of Secret ${object.metadata.namespace}/${secretRef.name}`;
  }
  if (!isCopied(origin, spec)) {
    return secretRef === undefined
      ? `a new Secret in the shoot that you reference as spec.secretRef of ${nameOf(object)}`
      : `Secret ${object.metadata.namespace}/${secretRef.name} in the shoot`;
  }
  if (origin.from === 'flux-config') return "Secret flux-source in the project's namespace";
  return secretRef === undefined
    ? 'a new Secret that you reference as source.secretResourceName of the providerConfig'
    : 'the Secret that source.secretResourceName of the providerConfig refers to';
}

function hostKeysOf(object: KubeObject, origin: Origin, spec: Spec): string {
  return origin.from === 'flux-config' && isCopied(origin, spec)
    ? "put the server's host keys into knownHosts in ConfigMap flux-config"
    : `put the server's host keys into known_hosts in ${secretOf(object, origin, spec)}`;
}

function credentialsOf(object: KubeObject, origin: Origin, spec: Spec): string {
  const isSsh = spec.url?.startsWith('ssh://') === true;
  if (origin.from === 'flux-config' && isCopied(origin, spec)) {
    if (spec.secretRef === undefined) {
      return "set repositoryType in ConfigMap flux-config to private and add credentials to Secret flux-source in the project's namespace";
    }
    return isSsh
      ? "add the public key from annotation flux.extensions.gardener.cloud/public-key of Secret flux-source in the project's namespace to the repository as a deploy key"
      : "put username and password (a token) with read access into Secret flux-source in the project's namespace";
  }
  const secret = secretOf(object, origin, spec);
  if (object.kind === 'OCIRepository') return `put .dockerconfigjson with pull access into ${secret}`;
  if (object.kind === 'Bucket') return `put accesskey and secretkey with read access into ${secret}`;
  return isSsh
    ? `put the private key of a deploy key of the repository (identity) into ${secret}`
    : `put username and password (a token), or bearerToken, with read access into ${secret}`;
}

function decryptionOf(object: KubeObject, { from, place }: Origin, { decryption }: Spec): string {
  const name = decryption?.secretRef?.name;
  if (place !== undefined && name !== undefined) return `the original of Secret ${object.metadata.namespace}/${name}`;
  if (from === 'flux-config') {
    return name === undefined ? 'a Secret in the shoot' : `Secret ${object.metadata.namespace}/${name} in the shoot`;
  }
  const target = name === undefined ? '' : ` with targetName ${name}`;
  return `the Secret that an entry of additionalSecretResources${target} in the providerConfig refers to`;
}

function hostOf(url: string): string {
  // The endpoint of a Bucket has no scheme.
  return /^(?:[a-z0-9+.-]+:\/\/)?(?:[^@/]*@)?([^/]+)/i.exec(url)?.[1] ?? url;
}

/** `GitRepository flux-system/main-gitrepo`. */
export function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.namespace}/${metadata.name}`;
}
