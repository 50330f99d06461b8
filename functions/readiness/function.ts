import { ourExtensions, patchesStatus, readsExtension } from '../../shared/gardener/extension-rights.ts';
import { extensionOf } from '../../shared/gardener/read-objects.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';

/** Reports the state of Flux in the shoot as conditions of the Extension. */
export const definition: FunctionDefinition = {
  name: 'readiness',
  description:
    'Checks whether Flux, its source and its root Kustomization are Ready in the shoot, and publishes conditions.',
  subscriptions: [
    {
      ...ourExtensions,
      // The result of an operation can be assessed only when it has ended.
      isNews: (object) => {
        const { state, lastOperation } = extensionOf(object).status ?? {};
        return (state?.applied ?? state?.foreign) !== undefined && lastOperation?.state !== 'Processing';
      },
      wakes: (object) => {
        const { state, lastOperation } = extensionOf(object).status ?? {};
        // The description changes when a Shoot is hibernated or wakes up.
        return [state?.applied, state?.foreign, lastOperation?.state, lastOperation?.description];
      },
    },
  ],
  resync: true,
  sends: false,
  rights: {
    garden: [],
    seed: [
      ...readsExtension,
      patchesStatus,
      { apiGroups: ['resources.gardener.cloud'], resources: ['managedresources'], verbs: ['list'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: ['gardener', 'gardener-internal'] },
    ],
  },
};
