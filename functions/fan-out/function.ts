import {
  CONTINUE,
  FLUX_CONFIG,
  FLUX_PUSH,
  FLUX_SOURCE,
  FLUX_STATUS,
  fluxConfigSubscription,
  fluxStatusSubscription,
  projectSecretNames,
  projectSecretSubscriptions,
  pushSubscription,
  RECONCILE_AT,
  SUSPENDED,
} from '../../shared/config/project-config.ts';
import { resources } from '../../shared/kube/resource.ts';
import { type FunctionDefinition, rule } from '../../shared/runtime/definition.ts';

/**
 * Forwards a change of a project's configuration, and pushes to its repositories, to the Extensions of its Shoots, and has
 * the lines of `flux-status` written again where others have deleted or changed it.
 */
export const definition: FunctionDefinition = {
  name: 'fan-out',
  description:
    'Sends one change for every Shoot of a project whose configuration, credentials or ConfigMap flux-status changed, or to which a Git host has reported a push.',
  subscriptions: [
    fluxConfigSubscription(RECONCILE_AT, CONTINUE, SUSPENDED),
    ...projectSecretSubscriptions,
    fluxStatusSubscription,
    pushSubscription,
  ],
  // The resync of managed-resources reaches every Shoot; one of a project would reach all of its Shoots at once.
  resync: false,
  sends: true,
  rights: {
    garden: [
      rule(resources.shoots, ['list']),
      // The key about a suspension. Created by an apply, which RBAC can restrict by name.
      rule(resources.configMaps, ['get', 'create', 'patch'], FLUX_STATUS),
      // Only metadata is requested; RBAC cannot restrict a right to it.
      rule(resources.configMaps, ['get'], FLUX_CONFIG),
      rule(resources.secrets, ['get'], FLUX_SOURCE, FLUX_PUSH, ...projectSecretNames),
    ],
    seed: [],
  },
};
