import { FLUX_CONFIG, FLUX_SOURCE, projectConfigSubscriptions } from '../../shared/gardener/project-config.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';

/** Makes the key pair of a project's private repository and tells people about it. */
export const definition: FunctionDefinition = {
  name: 'keys',
  description: "Makes the key pair and the known_hosts of a project's private repository.",
  subscriptions: projectConfigSubscriptions,
  resync: true,
  sends: false,
  rights: {
    garden: [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get'], resourceNames: [FLUX_CONFIG] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'patch'], resourceNames: [FLUX_SOURCE] },
      // RBAC cannot name what does not exist yet, and the names of Events are hashes.
      { apiGroups: [''], resources: ['secrets', 'events'], verbs: ['create'] },
      { apiGroups: [''], resources: ['events'], verbs: ['get'] },
    ],
    seed: [],
  },
};
