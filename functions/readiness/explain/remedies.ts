import type { KubeObject } from '../../../shared/kube/resource.ts';
import { type Field, type Origin, placesOf, type Spec, specOf } from './places.ts';
import { authorityOf, credentialsOf, decryptionOf, hostKeysOf, secretOf } from './remedy-secrets.ts';

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
  /** The name of that Secret in the shoot. */
  secretName: string | undefined;
  /** The Secret that holds the certificate of an authority: Git repositories have it beside the credentials. */
  authority: string;
  /** Where to look for the reason why a source has no artifact. */
  sourceToCheck: string;
  /** The Secret that holds the decryption keys. */
  decryption: string;
}

/** Returns the names that remedies for the object refer to. */
export function remediesFor(object: KubeObject, origin: Origin): Remedies {
  const spec = specOf(object);
  const url = spec.url ?? spec.endpoint ?? spec.image ?? '';
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
    secretName: spec.secretRef?.name,
    authority: authorityOf(object, origin, spec),
    sourceToCheck: sourceToCheck(origin, spec),
    decryption: decryptionOf(object, origin, spec),
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
