import { type Origins, originOf } from '../../../shared/config/origins.ts';
import type { EffectiveConfig } from '../../../shared/config/types.ts';
import { configuredObjects, customResourceIn } from '../../../shared/flux/custom-resources.ts';
import type { Release } from '../../../shared/flux/release.ts';
import type { ListedObject, ShootObject } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';

/** Where the rendered form of a configured object is in the shoot; the release's CRDs decide its apiVersion. */
function shootObject(rendered: KubeObject[], configured: KubeObject | undefined): ShootObject | undefined {
  if (configured === undefined) return undefined;
  const { name, namespace } = configured.metadata;
  const object = rendered.find(
    ({ kind, metadata }) => kind === configured.kind && metadata.name === name && metadata.namespace === namespace,
  );
  if (object === undefined) return undefined;
  const { apiVersion, kind, metadata } = object;
  return { apiVersion, kind, namespace: metadata.namespace ?? '', name: metadata.name };
}

/** The source or the root Kustomization in the shoot, and where it is written if not in the usual place. */
export function rootObject(
  rendered: KubeObject[],
  config: EffectiveConfig,
  part: 'source' | 'kustomization',
): ShootObject | undefined {
  const object = shootObject(rendered, config[part]);
  return object && { ...object, ...unusualPlaces(config.origins, part) };
}

/** Where the objects of the lists are in the shoot, as far as a controller reports whether they are Ready. */
export function otherObjects(
  rendered: KubeObject[],
  config: EffectiveConfig,
  release: Release,
): ListedObject[] | undefined {
  const others = configuredObjects(config)
    .filter(({ object, part }) => part.startsWith('objects[') && hasReadiness(object, release, config, part))
    .flatMap(({ object, part }) => {
      const inShoot = shootObject(rendered, object);
      return inShoot === undefined ? [] : [{ ...inShoot, place: originOf(config.origins, part) }];
    });
  return others.length === 0 ? undefined : others;
}

/** The controller only reads a HelmRepository of a registry, and writes no status. */
function hasReadiness(object: KubeObject, release: Release, config: EffectiveConfig, part: string): boolean {
  const isStatic = object.kind === 'HelmRepository' && (object.spec as { type?: string }).type === 'oci';
  return !isStatic && customResourceIn(release, config, object, part).hasConditions;
}

/** Fields of the root Kustomization that sentences of `readiness` name. */
const named = ['spec.path', 'spec.interval', 'spec.timeout', 'spec.suspend', 'spec.decryption'];

/**
 * Returns where the source or the root Kustomization is written, if neither in keys of `flux-config` nor as `template` of
 * a providerConfig: in a list, in `config.yaml` or in `overrides.yaml`; and which fields patches set.
 */
function unusualPlaces(origins: Origins, part: 'source' | 'kustomization'): Pick<ShootObject, 'place' | 'patched'> {
  const place = origins[part];
  const isUsual = place === undefined || place.path === `${part}.template`;
  const patched = named.flatMap((path) => {
    const origin = origins[`${part}.${path}`];
    return origin?.path.includes('.patch.') ? [[path, { ...origin }]] : [];
  });
  return {
    ...(!isUsual && { place: { ...place } }),
    ...(patched.length > 0 && { patched: Object.fromEntries(patched) }),
  };
}
