import { isOurs } from '../../shared/gardener/gate.ts';
import { applyState, managedResourceNames } from '../../shared/gardener/managed-resource.ts';
import {
  type Cluster,
  EXTENSION_TYPE,
  type Extension,
  type ManagedResource,
  OPERATION_ANNOTATION,
  ORIGIN,
  ORIGIN_LABEL,
  RESOURCE_MANAGER,
  TIMESTAMP_ANNOTATION,
} from '../../shared/gardener/types.ts';
import { resources } from '../../shared/kube/resource.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import { legacyNames } from './legacy.ts';
import { rejectedNamespace } from './plan/delivery.ts';

/** Installs Flux and its configuration into a Shoot, and keeps both as the sync mode says. */
export const definition: FunctionDefinition = {
  name: 'managed-resources',
  description: 'Writes the ManagedResources of a Shoot and reports the operation on its Extension.',
  subscriptions: [
    {
      in: 'seed',
      resource: resources.extensions,
      matches: (object) => isOurs(object as Extension),
      wakes: (object) => {
        const { metadata, status } = object as Extension;
        return [metadata.generation, metadata.deletionTimestamp, status?.state?.bootstrapped];
      },
      keys: (object, cluster) => [{ cluster, namespace: object.metadata.namespace ?? '', name: object.metadata.name }],
    },
    {
      in: 'seed',
      resource: resources.extensions,
      matches: (object) => isOurs(object as Extension),
      // We remove it ourselves. A deletion that did not end in time is repeated with another timestamp alone (trap 7).
      isNews: ({ metadata }) =>
        metadata.annotations?.[OPERATION_ANNOTATION] !== undefined || metadata.deletionTimestamp !== undefined,
      wakes: ({ metadata: { annotations } }) => [
        annotations?.[OPERATION_ANNOTATION],
        annotations?.[TIMESTAMP_ANNOTATION],
      ],
      keys: (object, cluster) => [{ cluster, namespace: object.metadata.namespace ?? '', name: object.metadata.name }],
    },
    {
      in: 'seed',
      resource: resources.clusters,
      matches: (object) => hasExtension(object as Cluster),
      wakes: (object) => {
        const { shoot } = (object as Cluster).spec;
        return [shoot.metadata.deletionTimestamp, shoot.spec?.hibernation?.enabled, shoot.spec?.resources];
      },
      keys: (object, cluster) => [{ cluster, namespace: object.metadata.name, name: EXTENSION_TYPE }],
    },
    {
      in: 'seed',
      resource: resources.managedResources,
      labelSelector: `${ORIGIN_LABEL}=${ORIGIN}`,
      isNews: (object) => isNews(object as ManagedResource),
      // All four have to be applied; within this time most of them are.
      mayWaitMs: 500,
      wakes: (object) => [object.metadata.deletionTimestamp, applyState(object as ManagedResource).state],
      keys: (object, cluster) => [{ cluster, namespace: object.metadata.namespace ?? '', name: EXTENSION_TYPE }],
    },
  ],
  resync: true,
  sends: false,
  rights: {
    garden: [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get'], resourceNames: ['flux-config'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: ['flux-source'] },
    ],
    seed: [
      { apiGroups: ['extensions.gardener.cloud'], resources: ['clusters'], verbs: ['get'] },
      // RBAC cannot name what is listed: is there one that what is left belongs to?
      { apiGroups: ['extensions.gardener.cloud'], resources: ['extensions'], verbs: ['list'] },
      {
        apiGroups: ['extensions.gardener.cloud'],
        resources: ['extensions'],
        verbs: ['get', 'patch'],
        resourceNames: [EXTENSION_TYPE],
      },
      {
        apiGroups: ['extensions.gardener.cloud'],
        resources: ['extensions/status'],
        verbs: ['patch'],
        resourceNames: [EXTENSION_TYPE],
      },
      // Gardener's own ManagedResources stay out of reach; RBAC cannot name what is not there yet, nor what is listed.
      { apiGroups: ['resources.gardener.cloud'], resources: ['managedresources'], verbs: ['list', 'create'] },
      {
        apiGroups: ['resources.gardener.cloud'],
        resources: ['managedresources'],
        verbs: ['get', 'patch', 'delete'],
        resourceNames: [...Object.values(managedResourceNames), ...legacyNames],
      },
      { apiGroups: ['apps'], resources: ['deployments'], verbs: ['patch'], resourceNames: [RESOURCE_MANAGER] },
      // Copies of the Shoot's resources, named after what users call them.
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] },
      // Secret names carry a content hash and every Shoot has its own namespace: RBAC cannot name them (facts 9).
      { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'create', 'delete'] },
    ],
  },
};

/** Clusters of Shoots without our extension stay out of the watcher's memory; auto-enabled types are not listed. */
function hasExtension(cluster: Cluster): boolean {
  const entry = cluster.spec?.shoot?.spec?.extensions?.find(({ type }) => type === EXTENSION_TYPE);
  return entry?.disabled !== true;
}

/**
 * Until the resource-manager has applied something, only we have written. A first pass over new content that fails is
 * normal, and whoever wrote the content looks again in time; what fails of content that was applied is news.
 */
function isNews(resource: ManagedResource): boolean {
  const { metadata, status } = resource;
  const { state } = applyState(resource);
  // Waiting does not help: with delivery `Auto` we do it ourselves, else the webhook may.
  if (rejectedNamespace(resource) !== undefined) return true;
  if (state === 'pending') return status?.observedGeneration !== undefined;
  return state === 'applied' || status?.observedGeneration === metadata.generation;
}
