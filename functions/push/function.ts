import { readsExtension } from '../../shared/gardener/extension-rights.ts';
import { resources } from '../../shared/kube/resource.ts';
import { type FunctionDefinition, rule } from '../../shared/runtime/definition.ts';

/** Has Flux in a Shoot fetch what was pushed. Only `fan-out` wakes it, once for each Shoot of a project. */
export const definition: FunctionDefinition = {
  name: 'push',
  description: 'Asks the sources in a Shoot that read a repository to fetch, because a Git host has reported a push.',
  subscriptions: [],
  // Flux fetches at its interval, too.
  resync: false,
  sends: false,
  rights: {
    garden: [],
    seed: [
      ...readsExtension.filter(({ resourceNames }) => resourceNames !== undefined),
      rule(resources.secrets, ['get'], 'gardener', 'gardener-internal'),
    ],
  },
};
