import { isOurs } from '../../shared/gardener/gate.ts';
import { applyState } from '../../shared/gardener/managed-resource.ts';
import {
  EXTENSION_TYPE,
  type Extension,
  type ManagedResource,
  ORIGIN,
  ORIGIN_LABEL,
} from '../../shared/gardener/types.ts';
import { resources } from '../../shared/kube/resource.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';

/** Records the first success, after which the sync mode decides what still follows the configuration. */
export const definition: FunctionDefinition = {
  name: 'sync-mode',
  description: "Records a Shoot's first success on its Extension.",
  subscriptions: [
    {
      in: 'seed',
      resource: resources.extensions,
      matches: (object) => isOurs(object as Extension),
      wakes: (object) => {
        const { status } = object as Extension;
        const took =
          status?.conditions?.some(({ type, status: value }) => type === 'FluxBootstrapped' && value === 'True') ===
          true;
        const { configHash, ready } = status?.providerStatus?.flux ?? {};
        return [status?.state?.applied, status?.state?.bootstrapped === undefined, configHash, ready, took];
      },
      keys: (object, cluster) => [{ cluster, namespace: object.metadata.namespace ?? '', name: object.metadata.name }],
    },
    {
      in: 'seed',
      resource: resources.managedResources,
      labelSelector: `${ORIGIN_LABEL}=${ORIGIN}`,
      // Applied in its current form, or not: nothing else of it counts here.
      matches: (object) => applyState(object as ManagedResource).state === 'applied',
      wakes: (object) => object.metadata.generation,
      keys: (object, cluster) => [{ cluster, namespace: object.metadata.namespace ?? '', name: EXTENSION_TYPE }],
    },
  ],
  resync: true,
  sends: false,
  rights: {
    garden: [],
    seed: [
      { apiGroups: ['extensions.gardener.cloud'], resources: ['clusters'], verbs: ['get'] },
      { apiGroups: ['extensions.gardener.cloud'], resources: ['extensions'], verbs: ['get'] },
      { apiGroups: ['extensions.gardener.cloud'], resources: ['extensions/status'], verbs: ['patch'] },
      { apiGroups: ['resources.gardener.cloud'], resources: ['managedresources'], verbs: ['list'] },
    ],
  },
};
