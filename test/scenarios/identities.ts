import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { type JsonObject, type KubeApi, type KubeApiOptions, startKubeApi } from '@shoot-flux/landscape/kube-api';
import { restrictions } from '@shoot-flux/landscape/restrictions';
import { findAllDefinitions, findWebhookDefinitions } from '../../infra/functions.ts';
import { rbacObjects, serviceAccountUser } from '../../infra/gardener/rbac.ts';
import { gardenRoles } from '../../infra/gardener/registration/registration.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import type { PolicyRule } from '../../shared/runtime/definition.ts';

export type Place = 'garden' | 'seed';

/** A client with exactly the rights that are shipped. */
export interface Identity {
  /** `watcher`, `heartbeat`, `webhooks` (manages their certificates), or the name of a function. */
  name: string;
  /** User name in RBAC. */
  user: string;
  token: string;
}

/** The watcher, the heartbeat, the certificate manager and every function, each with its own token. */
export async function shippedIdentities(): Promise<Identity[]> {
  const names = [...(await findAllDefinitions()).map(({ name }) => name), 'watcher', 'heartbeat', 'webhooks'];
  return names.map((name) => ({ name, user: serviceAccountUser(name), token: tokenOf(name) }));
}

/** Returns the token of an identity, valid on every API server of a test. */
export const tokenOf = (identity: string) => `${identity}-token`;

/** Returns the shipped roles and bindings. */
export async function shippedRbac(place: Place): Promise<KubeObject[]> {
  return rbacObjects(await findAllDefinitions(), place);
}

/** The accounts of installations, and the namespaces in which their gardenlets create them in the garden. */
const installations = {
  'shoot-flux': 'seed-local',
  'extension-shoot-flux-x7k2p': 'seed-local',
  'extension-shoot--bar--shoot-flux': 'garden-foo',
} as const;
export type Installation = keyof typeof installations;

/** Returns the user name of an installation in RBAC. */
export const installationUser = (name: Installation) => `system:serviceaccount:${installations[name]}:${name}`;

/** Returns the roles for installations, bound as Gardener binds them: in the garden, or for a member of one project. */
export async function installationRbac(name: Installation): Promise<KubeObject[]> {
  const apiGroup = 'rbac.authorization.k8s.io';
  const isMember = name.startsWith('extension-shoot--');
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: installations[name] } };
  const bound = gardenRoles(await findAllDefinitions()).flatMap((role) => [
    role,
    {
      apiVersion: role.apiVersion,
      kind: isMember ? 'RoleBinding' : 'ClusterRoleBinding',
      metadata: { name: role.metadata.name, ...(isMember && { namespace: installations[name] }) },
      roleRef: { apiGroup, kind: role.kind, name: role.metadata.name },
      subjects: [{ kind: 'ServiceAccount', namespace: installations[name], name }],
    },
  ]);
  return isMember ? [namespace, ...bound] : bound;
}

/**
 * Returns the users of an API server, with their tokens, and their rights.
 * @param installation all identities share its account in the garden; default: each has its own
 */
export async function usersOf(place: Place, installation?: Installation) {
  const isShared = place === 'garden' && installation !== undefined;
  const identities = await shippedIdentities();
  return {
    tokens: Object.fromEntries(
      identities.map(({ token, user }) => [token, { name: isShared ? installationUser(installation) : user }]),
    ),
    rbac: isShared ? await installationRbac(installation) : await shippedRbac(place),
  };
}

/** Starts a garden or a seed in this process where each identity has its token and its shipped rights. */
export async function startShippedApi(
  place: Place,
  installation?: Installation,
  options: KubeApiOptions = {},
): Promise<KubeApi> {
  const { tokens, rbac } = await usersOf(place, installation);
  const crds = place === 'garden' ? gardenCrds() : seedCrds();
  return startKubeApi({
    ...{ ...options, authorization: 'RBAC', tokens },
    objects: [...crds, ...rbac, ...(options.objects ?? [])] as JsonObject[],
    ...(place === 'garden' && { webhooks: restrictions }),
  });
}

/** Returns the rules of each identity in the garden or a seed, by its name. */
export async function shippedRules(place: Place): Promise<Record<string, PolicyRule[]>> {
  return rulesOf(await shippedRbac(place));
}

/** Returns the rules of each identity by its name, with which the names of its roles end. */
export function rulesOf(objects: KubeObject[]): Record<string, PolicyRule[]> {
  const byName: Record<string, PolicyRule[]> = {};
  for (const { kind, metadata, rules } of objects) {
    const name = metadata.name.split(':').at(-1) ?? '';
    if (kind === 'ClusterRole' || kind === 'Role') byName[name] = [...(byName[name] ?? []), ...(rules as PolicyRule[])];
  }
  return byName;
}

/** The webhook functions and the certificate manager: they run only where webhooks are served. */
export async function webhookIdentities(): Promise<string[]> {
  return [...(await findWebhookDefinitions()).map(({ name }) => name), 'webhooks'];
}
