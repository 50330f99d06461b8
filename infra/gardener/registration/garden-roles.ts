import type { KubeObject } from '../../../shared/kube/resource.ts';
import type { AnyDefinition } from '../../functions.ts';
import { policyObjects } from '../admission-policies.ts';
import { identitiesIn } from '../rbac.ts';
import { REGISTRATION } from './names.ts';

/** The account that the chart asks for in each seed, or the one that gardenlet injects where it does not. */
const IN_SEED = `seed-[^:]+:(${REGISTRATION}|extension-${REGISTRATION}-[^:]+)`;

/** The account that gardenlet injects in a self-hosted Shoot, in the namespace of its project. */
const SELF_HOSTED = `garden(-[^:]+)?:extension-shoot--[^:]+--${REGISTRATION}-[^:]+`;

/** The ServiceAccounts of installations. */
const INSTALLATION = `request.userInfo.username.matches('^system:serviceaccount:(${IN_SEED}|${SELF_HOSTED})$')`;

/** Identities of the garden that no installation in a seed has: admission runs beside the garden. */
const NOT_IN_SEEDS = ['admission', 'webhooks'];

/**
 * Generates the ClusterRoles that extend the rights of installations in the garden, one for each function.
 * gardener-controller-manager binds them to the ServiceAccounts that the annotation selects.
 */
export function gardenRoles(definitions: AnyDefinition[]): KubeObject[] {
  const selector = { matchLabels: { 'controllerregistration.core.gardener.cloud/name': REGISTRATION } };
  return identitiesIn(definitions, 'garden')
    .filter(({ name }) => !NOT_IN_SEEDS.includes(name))
    .map(({ name, rules }) => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: {
        // The binding gets the same name, which must not be one of rbac-garden.yaml.
        name: `extensions.gardener.cloud:${REGISTRATION}:installation:${name}`,
        labels: { 'authorization.gardener.cloud/custom-extensions-permissions': 'true' },
        annotations: { 'authorization.gardener.cloud/extensions-serviceaccount-selector': JSON.stringify(selector) },
      },
      rules,
    }));
}

/** Generates everything that installations need in the garden beside Gardener's own objects. */
export function gardenRights(definitions: AnyDefinition[]): KubeObject[] {
  return [...gardenRoles(definitions), ...policyObjects(`${REGISTRATION}-installation-secrets`, [INSTALLATION])];
}
