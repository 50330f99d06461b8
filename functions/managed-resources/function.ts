import {
  FLUX_CONFIG,
  FLUX_SOURCE,
  FLUX_STATUS,
  PULL_SECRET,
  projectSecretNames,
  RECONCILE_AT,
} from '../../shared/config/project-config.ts';
import { ourExtensions, patchesStatus, readsExtension } from '../../shared/gardener/extension-rights.ts';
import {
  applyState,
  legacyNames,
  MONITORING,
  managedResourceNames,
  ourLabelSelector,
  rejectedNamespace,
} from '../../shared/gardener/managed-resource.ts';
import { clusterOf, extensionOf, managedResourceOf } from '../../shared/gardener/read-objects.ts';
import { isDisabled } from '../../shared/gardener/shoot-changes.ts';
import { traitLabels } from '../../shared/gardener/shoot-facts.ts';
import {
  EXTENSION_TYPE,
  type ManagedResource,
  OPERATION_ANNOTATION,
  RESOURCE_MANAGER,
  TIMESTAMP_ANNOTATION,
} from '../../shared/gardener/types.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { type FunctionDefinition, rule } from '../../shared/runtime/definition.ts';

/** Installs Flux and its configuration into a Shoot, and updates both as far as the sync mode allows. */
export const definition: FunctionDefinition = {
  name: 'managed-resources',
  description: 'Writes the ManagedResources of a Shoot and reports the operation on its Extension.',
  subscriptions: [
    {
      ...ourExtensions,
      wakes: (object) => {
        const { metadata, status } = extensionOf(object);
        return [metadata.generation, metadata.deletionTimestamp, status?.state?.bootstrapped];
      },
      isAwaited,
    },
    {
      ...ourExtensions,
      // We remove the annotation ourselves. gardenlet repeats a deletion that did not end in time by its timestamp alone
      // (trap 7).
      isNews: isAwaited,
      wakes: ({ metadata: { annotations } }) => [
        annotations?.[OPERATION_ANNOTATION],
        annotations?.[TIMESTAMP_ANNOTATION],
      ],
      isAwaited,
    },
    {
      in: 'seed',
      resource: resources.clusters,
      // Clusters of Shoots that disable our extension stay out of the watcher's memory.
      matches: (object) => !isDisabled(clusterOf(object)?.spec.shoot ?? {}),
      wakes: (object) => {
        const shoot = clusterOf(object)?.spec.shoot;
        const reconcileAt = shoot?.metadata.annotations?.[RECONCILE_AT];
        return [
          shoot?.metadata.deletionTimestamp,
          shoot?.spec?.hibernation?.enabled,
          shoot?.spec?.resources,
          reconcileAt,
          shoot && Object.entries(traitLabels(shoot)).sort(),
        ];
      },
      // gardenlet changes the Cluster of every Shoot, with or without the extension.
      onlyKnownKeys: true,
      // What we have installed must be suspended and released before gardenlet empties the shoot.
      isAwaited: (object) => clusterOf(object)?.spec.shoot.metadata.deletionTimestamp !== undefined,
      keys: (object, cluster) => [{ cluster, namespace: object.metadata.name, name: EXTENSION_TYPE }],
    },
    {
      in: 'seed',
      resource: resources.managedResources,
      labelSelector: ourLabelSelector,
      isNews: (object) => isNews(managedResourceOf(object)),
      // All four ManagedResources have to be applied, and most are within this time.
      mayWaitMs: 500,
      wakes: (object) => [object.metadata.deletionTimestamp, applyState(managedResourceOf(object)).state],
      keys: (object, cluster) => [{ cluster, namespace: object.metadata.namespace ?? '', name: EXTENSION_TYPE }],
    },
  ],
  resync: true,
  sends: false,
  rights: {
    garden: [
      // On the Shoot; read is only the one of `keys` about a refused Secret. The names of Events are hashes.
      rule(resources.events, ['get', 'create']),
      rule(resources.configMaps, ['get'], FLUX_CONFIG),
      // The state of a rollout. Created by an apply, which RBAC can restrict by name.
      rule(resources.configMaps, ['get', 'create', 'patch'], FLUX_STATUS),
      // Its labels order a rollout of the landscape.
      rule(resources.projects, ['get']),
      rule(resources.secrets, ['get'], FLUX_SOURCE, PULL_SECRET, ...projectSecretNames),
    ],
    seed: [
      ...readsExtension,
      patchesStatus,
      // To find the Extension that leftovers belong to. RBAC cannot restrict a list by name.
      rule(resources.extensions, ['list']),
      rule(resources.extensions, ['patch'], EXTENSION_TYPE),
      // RBAC cannot restrict a list or a creation by name; the rule below keeps Gardener's own ManagedResources out of reach.
      rule(resources.managedResources, ['list', 'create']),
      rule(
        resources.managedResources,
        ['get', 'patch', 'delete'],
        ...Object.values(managedResourceNames),
        MONITORING,
        ...legacyNames,
      ),
      rule(resources.deployments, ['patch'], RESOURCE_MANAGER),
      // Copies of the Shoot's resources; users choose their names.
      rule(resources.configMaps, ['get']),
      // Secret names carry a content hash and every Shoot has its own namespace: RBAC cannot name them (rule 9).
      rule(resources.secrets, ['get', 'list', 'create', 'delete']),
    ],
  },
};

/** gardenlet waits for its operation on the Extension, and for its deletion. */
function isAwaited({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[OPERATION_ANNOTATION] !== undefined || metadata.deletionTimestamp !== undefined;
}

/**
 * Until the resource-manager has applied something, all changes are our own writes. A failed first attempt is normal, and
 * the run that wrote the content rechecks in time; a failure of content that was applied is news.
 */
function isNews(resource: ManagedResource): boolean {
  const { metadata, status } = resource;
  const { state } = applyState(resource);
  // Waiting does not help, the webhook may.
  if (rejectedNamespace(resource) !== undefined) return true;
  if (state === 'pending') return status?.observedGeneration !== undefined;
  return state === 'applied' || status?.observedGeneration === metadata.generation;
}
