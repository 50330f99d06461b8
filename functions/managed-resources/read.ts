import type { ConfigInputs } from '../../shared/config/effective.ts';
import { fluxConfigMapOf } from '../../shared/config/flux-config-map.ts';
import { shootResourcesOf } from '../../shared/config/shoot-resources.ts';
import { isOwn, managedResourceNames } from '../../shared/gardener/managed-resource.ts';
import type { Cluster, Extension, ManagedResource } from '../../shared/gardener/types.ts';
import { ORIGIN, ORIGIN_LABEL } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { legacyNames } from './legacy.ts';

const selector = `${ORIGIN_LABEL}=${ORIGIN}`;

/** What the layers of the configuration are read from. Only a 404 is absence: every other failure throws (design 6). */
export async function readConfigInputs(
  garden: KubeClient,
  extension: Extension,
  cluster: Cluster,
): Promise<ConfigInputs> {
  const { shoot } = cluster.spec;
  const namespace = shoot.metadata.namespace;
  const configMap =
    namespace === undefined ? undefined : await garden.find(resources.configMaps, { namespace, name: 'flux-config' });
  return {
    ...(configMap === undefined || configMap.metadata.deletionTimestamp !== undefined
      ? {}
      : { fluxConfig: fluxConfigMapOf(namespace ?? '', configMap) }),
    providerConfig: extension.spec.providerConfig,
    shootResources: shootResourcesOf(shoot.spec?.resources),
  };
}

/** Our ManagedResources of a control plane by name. */
export async function readManagedResources(seed: KubeClient, namespace: string): Promise<Map<string, ManagedResource>> {
  const list = await seed.list<ManagedResource>(resources.managedResources, { namespace, labelSelector: selector });
  return new Map(list.items.map((item) => [item.metadata.name, item]));
}

const names: string[] = [...Object.values(managedResourceNames), ...legacyNames];

/**
 * What has to be let go when the extension leaves, or it blocks the Shoot for ever (facts/gardener.md 8): also ours that
 * somebody has taken the label off, and the Go extension's where none of our reconciliations came in between.
 */
export async function readLeaving(seed: KubeClient, namespace: string): Promise<ManagedResource[]> {
  const { items } = await seed.list(resources.managedResources, { namespace, metadataOnly: true });
  const found: ManagedResource[] = [];
  for (const { metadata } of items.filter((item) => names.includes(item.metadata.name))) {
    const live = await seed.find<ManagedResource>(resources.managedResources, metadata);
    if (live !== undefined && (legacyNames.includes(metadata.name) || isOwn(live))) found.push(live);
  }
  return found;
}

/** Names of our content Secrets in a control plane; contents stay where they are. */
export async function readSecretNames(seed: KubeClient, namespace: string): Promise<Set<string>> {
  const list = await seed.list(resources.secrets, { namespace, labelSelector: selector, metadataOnly: true });
  return new Set(list.items.map((item) => item.metadata.name));
}

/** One request on a first run tells both: which of ours and which of the Go extension's exist. */
export async function readFirstRun(
  seed: KubeClient,
  namespace: string,
): Promise<{ live: Map<string, ManagedResource>; legacy: KubeObject[] }> {
  const { items } = await seed.list(resources.managedResources, { namespace, metadataOnly: true });
  const ours = items.some((item) => item.metadata.labels?.[ORIGIN_LABEL] === ORIGIN);
  return {
    live: ours ? await readManagedResources(seed, namespace) : new Map(),
    legacy: items.filter((item) => legacyNames.includes(item.metadata.name)),
  };
}
