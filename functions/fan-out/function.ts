import { fluxConfigSubscription, fluxSourceSubscription } from '../../shared/gardener/project-config.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';

/** Forwards a change of a project's configuration to the Extensions of its Shoots. */
export const definition: FunctionDefinition = {
  name: 'fan-out',
  description: 'Sends one change for every Shoot of a project whose configuration or credentials changed.',
  subscriptions: [fluxConfigSubscription, fluxSourceSubscription],
  resync: true,
  sends: true,
  rights: {
    garden: [{ apiGroups: ['core.gardener.cloud'], resources: ['shoots'], verbs: ['list'] }],
    seed: [],
  },
};
