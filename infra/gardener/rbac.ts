import { FLUX_PUSH, FLUX_SOURCE } from '../../shared/config/project-config.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { type PolicyRule, rule, type Subscription } from '../../shared/runtime/definition.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import { type AnyDefinition, isQueued, isWebhook } from '../functions.ts';
import { HEARTBEAT } from '../process/heartbeat.ts';
import { CERTIFICATES, CONFIGURATION, NAMESPACE } from '../webhooks/names.ts';
import { configurations } from '../webhooks/publish.ts';

export type Place = 'garden' | 'seed';

/** A part of the product with its own rights. A deployment may bind the roles to other subjects. */
export interface Identity {
  name: string;
  /** Rights in the whole cluster. */
  rules: PolicyRule[];
  /** Rights in the namespace of the deployment. */
  own?: PolicyRule[];
}

/** Generates the ServiceAccounts, roles and bindings of the garden or a seed from the functions' definitions. */
export function rbacObjects(definitions: AnyDefinition[], place: Place): KubeObject[] {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
  return [namespace, ...identitiesIn(definitions, place).flatMap(identity)];
}

/** Returns the identities that have rights in the garden or a seed. */
export function identitiesIn(definitions: AnyDefinition[], place: Place): Identity[] {
  const identities: Identity[] = [
    ...definitions.map(({ name, rights }) => ({ name, rules: rights[place] })),
    { name: 'watcher', rules: watchRules(definitions, place) },
    { name: 'webhooks', ...webhookRules(definitions, place) },
    { name: 'heartbeat', rules: [], ...(place !== GARDEN && { own: heartbeatRules }) },
  ];
  return identities.filter(({ rules, own }) => rules.length > 0 || own !== undefined);
}

/** Returns the user name of an identity in RBAC. */
export function serviceAccountUser(name: string): string {
  return `system:serviceaccount:${NAMESPACE}:shoot-flux-${name}`;
}

function identity({ name, rules, own = [] }: Identity): KubeObject[] {
  const role = `extensions.gardener.cloud:shoot-flux:${name}`;
  const account = { name: `shoot-flux-${name}`, namespace: NAMESPACE };
  const subject = { kind: 'ServiceAccount', ...account };
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account, automountServiceAccountToken: false },
    ...boundRole({ name: role }, rules, subject),
    ...boundRole({ name: role, namespace: NAMESPACE }, own, subject),
  ];
}

/** Returns a role of a namespace, or of the whole cluster, and its binding to a subject; nothing without rules. */
export function boundRole(metadata: KubeObject['metadata'], rules: PolicyRule[], subject: object): KubeObject[] {
  if (rules.length === 0) return [];
  const apiGroup = 'rbac.authorization.k8s.io';
  const apiVersion = `${apiGroup}/v1`;
  const kind = metadata.namespace === undefined ? 'ClusterRole' : 'Role';
  const roleRef = { apiGroup, kind, name: metadata.name };
  return [
    { apiVersion, kind, metadata, rules },
    { apiVersion, kind: `${kind}Binding`, metadata, roleRef, subjects: [subject] },
  ];
}

/** Rights for the Lease in the extension's namespace. RBAC cannot restrict `create` by name. */
const heartbeatRules = [rule(resources.leases, ['get', 'patch'], HEARTBEAT), rule(resources.leases, ['create'])];

/** Rights to store the certificates in the garden, and to publish their CA in the webhook configurations. */
function webhookRules(definitions: AnyDefinition[], place: Place): Pick<Identity, 'rules' | 'own'> {
  const all = definitions.filter(isWebhook).map(({ webhook }) => webhook);
  const types = new Set(all.filter((webhook) => webhook.in === place).map(({ type }) => type));
  const rules = [...types].map((type) => rule(configurations[type], ['get', 'patch'], CONFIGURATION));
  // RBAC cannot restrict `create` by name.
  const own = [rule(resources.secrets, ['get', 'patch'], CERTIFICATES), rule(resources.secrets, ['create'])];
  return { rules, ...(place === GARDEN && all.length > 0 && { own }) };
}

function watchRules(definitions: AnyDefinition[], place: Place): PolicyRule[] {
  const rules = new Map<string, PolicyRule>();
  for (const definition of definitions) {
    for (const subscription of isQueued(definition) ? definition.subscriptions : []) {
      if (subscription.in !== place) continue;
      const watched = watchRule(subscription);
      rules.set(JSON.stringify(watched), watched);
    }
  }
  return [...rules.values()];
}

/** A watch with a `metadata.name` selector is authorised by resourceNames, so other Secrets stay invisible. */
function watchRule({ resource, fieldSelector }: Subscription): PolicyRule {
  const name = /^metadata\.name=(.+)$/.exec(fieldSelector ?? '')?.[1];
  return rule(resource, ['list', 'watch'], ...(name === undefined ? [] : [name]));
}

/** The name of the single identity of `run` in docs/running.md. */
export const RUN_USER = 'shoot-flux-run';

const NAME = 'shoot-flux-secrets';

/** The ServiceAccounts of `rbac-garden.yaml`, and the user of `run`. */
const OURS = [
  `request.userInfo.username == '${RUN_USER}'`,
  `request.userInfo.username.startsWith('${serviceAccountUser('')}')`,
];

/**
 * Generates the policy of the garden that restricts which Secrets our identities create: RBAC cannot name what does not
 * exist yet. Without it the token of `keys` could create a Secret of type `kubernetes.io/service-account-token` in any
 * namespace, have it filled with the token of a ServiceAccount there, and read it, if it is called `flux-source`.
 * @param ours expressions, one of which is true for our identities
 */
export function policyObjects(name = NAME, ours = OURS): KubeObject[] {
  const allowed = [
    `object.metadata.name in ['${FLUX_SOURCE}', '${FLUX_PUSH}']`,
    `object.metadata.namespace == '${NAMESPACE}' && object.metadata.name == '${CERTIFICATES}'`,
  ];
  return admissionPolicy(name, {
    matchConstraints: matching('secrets', 'CREATE'),
    matchConditions: [{ name: 'ours', expression: ours.join(' || ') }],
    validations: [
      {
        expression: `(${allowed.join(') || (')})`,
        message: `shoot-flux may create only Secrets ${FLUX_SOURCE} and ${FLUX_PUSH}, and ${NAMESPACE}/${CERTIFICATES}`,
      },
      {
        expression: "has(object.type) && object.type == 'Opaque'",
        message: 'shoot-flux may create only Secrets of type Opaque',
      },
    ],
  });
}

/** Returns which calls of the core API a policy judges. */
export function matching(resource: string, ...operations: string[]): object {
  return { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations, resources: [resource] }] };
}

/** Returns a ValidatingAdmissionPolicy and its binding: what it does not allow is denied. */
export function admissionPolicy(name: string, spec: object): KubeObject[] {
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const kind = 'ValidatingAdmissionPolicy';
  const binding = { policyName: name, validationActions: ['Deny'] };
  return [
    { apiVersion, kind, metadata: { name }, spec: { failurePolicy: 'Fail', ...spec } },
    { apiVersion, kind: `${kind}Binding`, metadata: { name }, spec: binding },
  ];
}
