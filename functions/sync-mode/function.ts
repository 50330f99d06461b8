import { isOurs } from '../../shared/gardener/gate.ts';
import { extensionOf } from '../../shared/gardener/read-objects.ts';
import { EXTENSION_TYPE, type Extension } from '../../shared/gardener/types.ts';
import { resources } from '../../shared/kube/resource.ts';
import { type FunctionDefinition, ownKey } from '../../shared/runtime/definition.ts';
import { decideFromExtension } from './first-success.ts';

/** Records the first success. After it, the sync mode decides which parts still follow the configuration. */
export const definition: FunctionDefinition = {
  name: 'sync-mode',
  description: "Records a Shoot's first success on its Extension.",
  subscriptions: [
    {
      in: 'seed',
      resource: resources.extensions,
      matches: (object) => isOurs(object as Extension),
      isNews: (object) => decideFromExtension(extensionOf(object)).type !== 'nothing to record',
      // The ManagedResources are applied when the operation ends.
      wakes: (object) => {
        const extension = extensionOf(object);
        return [decideFromExtension(extension), extension.status?.lastOperation?.state];
      },
      keys: ownKey,
    },
  ],
  // The first success is news until it is recorded: each start of the watcher and the end of each operation wake it again,
  // and a run every hour for every Shoot would find nothing for ever after.
  resync: false,
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
