import { findDefinitions } from '../../infra/functions.ts';
import { rbacObjects, serviceAccountUser } from '../../infra/gardener/rbac.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import type { PolicyRule } from '../../shared/runtime/definition.ts';

export type Place = 'garden' | 'seed';

/** Somebody who speaks with the rights that are shipped, and no others. */
export interface Identity {
  /** `watcher`, or the name of a function. */
  name: string;
  /** As RBAC knows it. */
  user: string;
  token: string;
}

/** The watcher and every function, each with a token of its own. */
export async function shippedIdentities(): Promise<Identity[]> {
  const names = [...(await findDefinitions()).map(({ name }) => name), 'watcher'];
  return names.map((name) => ({ name, user: serviceAccountUser(name), token: tokenOf(name) }));
}

/** The token of an identity, on every API server of a test. */
export const tokenOf = (identity: string) => `${identity}-token`;

/** The roles and bindings as they are shipped. */
export async function shippedRbac(place: Place): Promise<KubeObject[]> {
  return rbacObjects(await findDefinitions(), place);
}

/** The rules of each identity that has any in this place, by its name. */
export async function shippedRules(place: Place): Promise<Record<string, PolicyRule[]>> {
  const roles = (await shippedRbac(place)).filter(({ kind }) => kind === 'ClusterRole');
  return Object.fromEntries(
    roles.map(({ metadata, rules }) => [metadata.name.split(':').at(-1) ?? '', rules as PolicyRule[]]),
  );
}
