import { ourExtensions, patchesStatus, readsExtension } from '../../shared/gardener/extension-rights.ts';
import { extensionOf } from '../../shared/gardener/read-objects.ts';
import { resources } from '../../shared/kube/resource.ts';
import { type FunctionDefinition, rule } from '../../shared/runtime/definition.ts';

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
      rule(resources.managedResources, ['list']),
      rule(resources.secrets, ['get'], 'gardener', 'gardener-internal'),
    ],
  },
};
