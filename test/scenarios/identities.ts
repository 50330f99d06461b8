import { findAllDefinitions, findWebhookDefinitions } from '../../infra/functions.ts';
import { rbacObjects, serviceAccountUser } from '../../infra/gardener/rbac.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import type { PolicyRule } from '../../shared/runtime/definition.ts';

export type Place = 'garden' | 'seed';

/** Somebody who speaks with the rights that are shipped, and no others. */
export interface Identity {
  /** `watcher`, `heartbeat`, `webhooks` (the keeper of their certificates), or the name of a function. */
  name: string;
  /** As RBAC knows it. */
  user: string;
  token: string;
}

/** The watcher, the heartbeat, the keeper of certificates and every function, each with a token of its own. */
export async function shippedIdentities(): Promise<Identity[]> {
  const names = [...(await findAllDefinitions()).map(({ name }) => name), 'watcher', 'heartbeat', 'webhooks'];
  return names.map((name) => ({ name, user: serviceAccountUser(name), token: tokenOf(name) }));
}

/** The token of an identity, on every API server of a test. */
export const tokenOf = (identity: string) => `${identity}-token`;

/** The roles and bindings as they are shipped. */
export async function shippedRbac(place: Place): Promise<KubeObject[]> {
  return rbacObjects(await findAllDefinitions(), place);
}

/** The rules of each identity that has any in this place, by its name. */
export async function shippedRules(place: Place): Promise<Record<string, PolicyRule[]>> {
  const byName: Record<string, PolicyRule[]> = {};
  for (const { kind, metadata, rules } of await shippedRbac(place)) {
    const name = metadata.name.split(':').at(-1) ?? '';
    if (kind === 'ClusterRole' || kind === 'Role') byName[name] = [...(byName[name] ?? []), ...(rules as PolicyRule[])];
  }
  return byName;
}

/** Who answers API servers, and the keeper of their certificates: they are at work only where webhooks are served. */
export async function webhookIdentities(): Promise<string[]> {
  return [...(await findWebhookDefinitions()).map(({ name }) => name), 'webhooks'];
}
