import {
  FLUX_CONFIG,
  FLUX_PUSH,
  FLUX_SOURCE,
  fluxConfigSubscription,
  projectSecretNames,
  projectSecretSubscriptions,
  tokenSubscription,
} from '../../shared/config/project-config.ts';
import { OPERATION_ANNOTATION } from '../../shared/gardener/types.ts';
import { resources } from '../../shared/kube/resource.ts';
import { type FunctionDefinition, rule } from '../../shared/runtime/definition.ts';

/**
 * Creates and rotates the key pair of a project's private repository, checks its other Secrets, and reports on its
 * ConfigMap.
 */
export const definition: FunctionDefinition = {
  name: 'keys',
  description: "Creates and rotates the key pair of a project's private repository, with its known_hosts.",
  subscriptions: [
    {
      ...fluxConfigSubscription(OPERATION_ANNOTATION),
      isAwaited: ({ metadata }) => metadata.annotations?.[OPERATION_ANNOTATION] !== undefined,
    },
    ...projectSecretSubscriptions,
    tokenSubscription,
  ],
  resync: true,
  sends: false,
  rights: {
    garden: [
      // Patched only to remove the operation annotation.
      rule(resources.configMaps, ['get', 'patch'], FLUX_CONFIG),
      rule(resources.secrets, ['get', 'patch'], FLUX_SOURCE, FLUX_PUSH),
      // Checked, and never written.
      rule(resources.secrets, ['get'], ...projectSecretNames),
      // RBAC cannot name what does not exist yet, and the names of Events are hashes. A policy restricts the Secrets
      // (infra/gardener/rbac.ts).
      { apiGroups: [''], resources: ['secrets', 'events'], verbs: ['create'] },
      rule(resources.events, ['get']),
    ],
    seed: [],
  },
};
