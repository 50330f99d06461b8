import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import type { PolicyRule, Subscription } from '../../shared/runtime/definition.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import { type AnyDefinition, isWebhook } from '../functions.ts';
import { HEARTBEAT } from '../heartbeat/lease.ts';
import { configurations } from '../webhooks/ca-bundle.ts';
import { CERTIFICATES, CONFIGURATION, NAMESPACE } from '../webhooks/names.ts';

type Place = 'garden' | 'seed';

/** Somebody with rights of their own; a deployment may bind the roles to others. */
interface Identity {
  name: string;
  /** In the whole cluster. */
  rules: PolicyRule[];
  /** In the namespace of the deployment alone. */
  own?: PolicyRule[];
}

/**
 * ServiceAccounts, roles and bindings of one place: each function with just its own rights, the watcher with list and
 * watch of what is subscribed, the keeper of the webhooks' certificates, and the heartbeat. Follows from the
 * definitions alone.
 */
export function rbacObjects(definitions: AnyDefinition[], place: Place): KubeObject[] {
  const identities: Identity[] = [
    ...definitions.map(({ name, rights }) => ({ name, rules: rights[place] })),
    { name: 'watcher', rules: watchRules(definitions, place) },
    { name: 'webhooks', ...webhookRules(definitions, place) },
    { name: 'heartbeat', rules: [], ...(place !== GARDEN && { own: heartbeatRules }) },
  ];
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
  return [namespace, ...identities.filter(({ rules, own }) => rules.length > 0 || own !== undefined).flatMap(identity)];
}

/** The user name under which an identity is known to RBAC. */
export function serviceAccountUser(name: string): string {
  return `system:serviceaccount:${NAMESPACE}:shoot-flux-${name}`;
}

function identity({ name, rules, own }: Identity): KubeObject[] {
  const role = `extensions.gardener.cloud:shoot-flux:${name}`;
  const account = { name: `shoot-flux-${name}`, namespace: NAMESPACE };
  const rbac = 'rbac.authorization.k8s.io';
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account, automountServiceAccountToken: false },
    ...(rules.length === 0
      ? []
      : [
          { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name: role }, rules },
          {
            apiVersion: `${rbac}/v1`,
            kind: 'ClusterRoleBinding',
            metadata: { name: role },
            roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
            subjects: [{ kind: 'ServiceAccount', ...account }],
          },
        ]),
    ...(own === undefined
      ? []
      : [
          { apiVersion: `${rbac}/v1`, kind: 'Role', metadata: { name: role, namespace: NAMESPACE }, rules: own },
          {
            apiVersion: `${rbac}/v1`,
            kind: 'RoleBinding',
            metadata: { name: role, namespace: NAMESPACE },
            roleRef: { apiGroup: rbac, kind: 'Role', name: role },
            subjects: [{ kind: 'ServiceAccount', ...account }],
          },
        ]),
  ];
}

/** The Lease in the extension's own namespace; RBAC cannot name what does not exist yet. */
const heartbeatRules: PolicyRule[] = [
  {
    apiGroups: [resources.leases.group],
    resources: [resources.leases.plural],
    verbs: ['get', 'patch'],
    resourceNames: [HEARTBEAT],
  },
  { apiGroups: [resources.leases.group], resources: [resources.leases.plural], verbs: ['create'] },
];

/** The certificates are kept in the garden, and told to the API servers that call. */
function webhookRules(definitions: AnyDefinition[], place: Place): Pick<Identity, 'rules' | 'own'> {
  const all = definitions.filter(isWebhook).map(({ webhook }) => webhook);
  const types = new Set(all.filter((webhook) => webhook.in === place).map(({ type }) => type));
  const rules = [...types].map((type) => ({
    apiGroups: [configurations[type].group],
    resources: [configurations[type].plural],
    verbs: ['get', 'patch'],
    resourceNames: [CONFIGURATION],
  }));
  const secrets = { apiGroups: [''], resources: ['secrets'] };
  const own = [
    { ...secrets, verbs: ['get', 'patch'], resourceNames: [CERTIFICATES] },
    // RBAC cannot name what does not exist yet.
    { ...secrets, verbs: ['create'] },
  ];
  return { rules, ...(place === GARDEN && all.length > 0 && { own }) };
}

function watchRules(definitions: AnyDefinition[], place: Place): PolicyRule[] {
  const rules = new Map<string, PolicyRule>();
  for (const definition of definitions) {
    for (const subscription of isWebhook(definition) ? [] : definition.subscriptions) {
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
