import { isOurs } from '../../shared/gardener/gate.ts';
import { extensionOf } from '../../shared/gardener/read-objects.ts';
import { EXTENSION_TYPE, type Extension } from '../../shared/gardener/types.ts';
import { resources } from '../../shared/kube/resource.ts';
import { type FunctionDefinition, ownKey } from '../../shared/runtime/definition.ts';

/** Reports the state of Flux in the shoot as conditions of the Extension. */
export const definition: FunctionDefinition = {
  name: 'readiness',
  description:
    'Checks whether Flux, its source and its root Kustomization are Ready in the shoot, and publishes conditions.',
  subscriptions: [
    {
      in: 'seed',
      resource: resources.extensions,
      matches: (object) => isOurs(object as Extension),
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
      keys: ownKey,
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
      { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: ['gardener', 'gardener-internal'] },
    ],
  },
};
