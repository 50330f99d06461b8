import { isOfAddon } from '../../../shared/config/addons.ts';
import { fluxConfigKey } from '../../../shared/config/flux-config.ts';
import type { Place } from '../../../shared/config/origins.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import type { Spec } from '../seen.ts';

/** Where the user can correct a source or a root Kustomization. */
export interface Origin {
  from: 'flux-config' | 'providerConfig';
  /** The sync mode has released the object: it is the user's own and has to be corrected in the shoot. */
  isReleased: boolean;
  /** Where the object is written, if neither in keys of `flux-config` nor as `template` of a providerConfig. */
  place?: Place | undefined;
  /** Where patches set fields of the root Kustomization, by their paths in the object. */
  patched?: Readonly<Record<string, Place>> | undefined;
  /** True: its `targetNamespace` is there because a former version wrote it. */
  keepsNamespace?: boolean | undefined;
}

/** Paths in the object itself. */
export const specPaths = {
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
  targetNamespace: 'spec.targetNamespace',
};
export type Field = keyof typeof specPaths;

/** Where fields are set that the keys of `flux-config` do not have. A Kustomization keeps its name with a patch. */
const beyondKeys = {
  source: (path: string) =>
    `source.template.${path} of a source in config.yaml of ConfigMap flux-config or in the providerConfig (repositoryUrl has no key for it)`,
  kustomization: (path: string) => `kustomization.patch.${path} in config.yaml of ConfigMap flux-config`,
};

/** Returns where each field of an object is configured. */
export function placesOf(object: KubeObject, origin: Origin, spec: Spec): Record<Field, string> {
  const part = object.kind === 'Kustomization' ? 'kustomization' : 'source';
  const place = (name: Field): string => {
    const path = name === 'url' ? urlPath(spec) : specPaths[name];
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
    return key === undefined ? beyondKeys[part](path) : `${key} in ConfigMap flux-config`;
  };
  const names = Object.keys(specPaths) as Field[];
  return Object.fromEntries(names.map((name) => [name, place(name)])) as Record<Field, string>;
}

function urlPath({ url, endpoint, image }: Spec): string {
  if (url !== undefined) return specPaths.url;
  return endpoint === undefined && image !== undefined ? 'spec.image' : 'spec.endpoint';
}

function configurationName(place: Place): string {
  if (isOfAddon(place)) return `${place.object} of the landscape`;
  return place.object === 'providerConfig' ? 'the providerConfig' : place.object;
}

/** Returns a field of an object in a list, as a place of the configuration. */
export function listedPlace(written: Place, field: string): string {
  const place = `${written.path}.${field} of ${configurationName(written)}`;
  return field === specPaths.suspend ? `${place}, or suspend in the configuration,` : place;
}

/** The field of the revision that counts; without any, the branch. */
function revisionPath({ ref = {} }: Spec): string {
  const field = (['commit', 'semver', 'tag'] as const).find((name) => ref[name] !== undefined);
  return `spec.ref.${field ?? 'branch'}`;
}

/** `GitRepository flux-system/main-gitrepo`. */
export function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.namespace}/${metadata.name}`;
}
