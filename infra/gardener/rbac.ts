import type { KubeObject } from '../../shared/kube/resource.ts';
import type { FunctionDefinition, PolicyRule, Subscription } from '../../shared/runtime/definition.ts';

/** Where the identities live; a deployment may bind the roles to others. */
const NAMESPACE = 'shoot-flux';

type Place = 'garden' | 'seed';

/**
 * ServiceAccounts, ClusterRoles and bindings of one place, each function with just its own rights and the watcher with
 * list and watch of what is subscribed. Follows from the definitions alone.
 */
export function rbacObjects(definitions: FunctionDefinition[], place: Place): KubeObject[] {
  const identities = definitions.map(({ name, rights }) => ({ name, rules: rights[place] }));
  const watcher = { name: 'watcher', rules: watchRules(definitions, place) };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
  return [namespace, ...[...identities, watcher].filter(({ rules }) => rules.length > 0).flatMap(identity)];
}

/** The user name under which an identity is known to RBAC. */
export function serviceAccountUser(name: string): string {
  return `system:serviceaccount:${NAMESPACE}:shoot-flux-${name}`;
}

function identity({ name, rules }: { name: string; rules: PolicyRule[] }): KubeObject[] {
  const role = `extensions.gardener.cloud:shoot-flux:${name}`;
  const account = { name: `shoot-flux-${name}`, namespace: NAMESPACE };
  const rbac = 'rbac.authorization.k8s.io';
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account, automountServiceAccountToken: false },
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name: role }, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: role },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', ...account }],
    },
  ];
}

function watchRules(definitions: FunctionDefinition[], place: Place): PolicyRule[] {
  const rules = new Map<string, PolicyRule>();
  for (const { subscriptions } of definitions) {
    for (const subscription of subscriptions) {
      if (subscription.in !== place) continue;
      const rule = watchRule(subscription);
      rules.set(JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames]), rule);
    }
  }
  return [...rules.values()];
}

/** A watch with a `metadata.name` selector is authorised by resourceNames: it cannot see other Secrets. */
function watchRule({ resource, fieldSelector }: Subscription): PolicyRule {
  const name = /^metadata\.name=(.+)$/.exec(fieldSelector ?? '')?.[1];
  return {
    apiGroups: [resource.group],
    resources: [resource.plural],
    verbs: ['list', 'watch'],
    ...(name === undefined ? {} : { resourceNames: [name] }),
  };
}
