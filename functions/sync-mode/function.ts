import { ourExtensions, patchesStatus, readsExtension } from '../../shared/gardener/extension-rights.ts';
import { extensionOf } from '../../shared/gardener/read-objects.ts';
import { resources } from '../../shared/kube/resource.ts';
import { type FunctionDefinition, rule } from '../../shared/runtime/definition.ts';
import { firstSuccess } from './first-success.ts';

/** Records the first success. After it, the sync mode decides which parts still follow the configuration. */
export const definition: FunctionDefinition = {
  name: 'sync-mode',
  description: "Records a Shoot's first success on its Extension.",
  subscriptions: [
    {
      ...ourExtensions,
      isNews: (object) => firstSuccess(extensionOf(object)) !== undefined,
      // The ManagedResources are applied when the operation ends.
      wakes: (object) => {
        const extension = extensionOf(object);
        return [firstSuccess(extension), extension.status?.lastOperation?.state];
      },
    },
  ],
  // The first success is news until it is recorded: each start of the watcher and the end of each operation wake it again,
  // and a run every hour for every Shoot would find nothing for ever after.
  resync: false,
  sends: false,
  rights: {
    garden: [],
    seed: [...readsExtension, patchesStatus, rule(resources.managedResources, ['list'])],
  },
};
