import { isOurs } from '../../shared/gardener/gate.ts';
import { EXTENSION_TYPE, type Extension } from '../../shared/gardener/types.ts';
import { resources } from '../../shared/kube/resource.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import { firstLook } from './decide.ts';

/** Records the first success, after which the sync mode decides what still follows the configuration. */
export const definition: FunctionDefinition = {
  name: 'sync-mode',
  description: "Records a Shoot's first success on its Extension.",
  subscriptions: [
    {
      in: 'seed',
      resource: resources.extensions,
      matches: (object) => isOurs(object as Extension),
      isNews: (object) => firstLook(object as Extension).type !== 'nothing to record',
      // What has to be applied for it is applied when the operation ends.
      wakes: (object) => [firstLook(object as Extension), (object as Extension).status?.lastOperation?.state],
      keys: (object, cluster) => [{ cluster, namespace: object.metadata.namespace ?? '', name: object.metadata.name }],
    },
  ],
  resync: true,
  sends: false,
  rights: {
    garden: [],
    seed: [
      { apiGroups: ['extensions.gardener.cloud'], resources: ['clusters'], verbs: ['get'] },
      {
        apiGroups: ['extensions.gardener.cloud'],
        resources: ['extensions'],
        verbs: ['get'],
        resourceNames: [EXTENSION_TYPE],
      },
      {
        apiGroups: ['extensions.gardener.cloud'],
        resources: ['extensions/status'],
        verbs: ['patch'],
        resourceNames: [EXTENSION_TYPE],
      },
      { apiGroups: ['resources.gardener.cloud'], resources: ['managedresources'], verbs: ['list'] },
    ],
  },
};
