import { serviceAccountUser } from '../../infra/gardener/rbac.ts';
import { type Place, shippedRules } from '../scenarios/identities.ts';
import type { ApiServer } from './cluster/api-server.ts';
import type { AuditEntry } from './cluster/audit.ts';

type Servers = Record<Place, Pick<ApiServer, 'auditEntries'>>;

const places: Place[] = ['garden', 'seed'];
const ours = serviceAccountUser('');

/** Requests of the product that were forbidden, as `place identity verb resource`. */
export async function refused(servers: Servers): Promise<string[]> {
  const lines = new Set<string>();
  for (const place of places) {
    for (const { user, verb, resource, name, code } of await servers[place].auditEntries()) {
      if (user.startsWith(ours) && (code === 401 || code === 403))
        lines.add(`${place} ${user.slice(ours.length)} ${verb} ${resource} ${name}`);
    }
  }
  return [...lines];
}

/**
 * Returns the granted rights that no request needed: by verb, resource and resource name.
 * @param counts selects the identities to check
 */
export async function unusedRights(servers: Servers, counts: (identity: string) => boolean): Promise<string[]> {
  const lines: string[] = [];
  for (const place of places) {
    const entries = await servers[place].auditEntries();
    for (const [identity, rules] of Object.entries(await shippedRules(place))) {
      if (!counts(identity)) continue;
      const needs = entries.filter(({ user }) => user === serviceAccountUser(identity)).flatMap(needed);
      for (const { apiGroups, resources, verbs, resourceNames } of rules) {
        for (const right of product(apiGroups, resources, verbs, resourceNames ?? ['*'])) {
          if (!needs.some((need) => right.every((part, index) => part === '*' || part === need[index])))
            lines.push(`${place} ${identity}: ${right.join(' ')}`);
        }
      }
    }
  }
  return lines;
}

/** Returns the right that a request needs: group, resource, verb, name. An apply that creates needs `create` and `patch`. */
function needed({ requestUri, resource, verb, name, code }: AuditEntry): string[][] {
  const group = /^\/apis\/([^/]+)\//.exec(requestUri)?.[1] ?? '';
  const verbs = verb === 'patch' && code === 201 ? ['patch', 'create'] : [verb];
  return verbs.map((each) => [group, resource, each, name]);
}

function product(...lists: string[][]): string[][] {
  return lists.reduce<string[][]>((rows, list) => rows.flatMap((row) => list.map((entry) => [...row, entry])), [[]]);
}
