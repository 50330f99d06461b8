import { findAllDefinitions, findWebhookDefinitions } from '../../infra/functions.ts';
import { rbacObjects, serviceAccountUser } from '../../infra/gardener/rbac.ts';
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
