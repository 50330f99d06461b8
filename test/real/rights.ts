import { serviceAccountUser } from '../../infra/gardener/rbac.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import type { Place } from '../scenarios/identities.ts';
import { dispensable, type Need, rightsOf } from '../scenarios/needed-rights.ts';
import type { ApiServer } from './cluster/api-server.ts';
import type { AuditEntry } from './cluster/audit.ts';

type Server = Pick<ApiServer, 'auditEntries'>;
type Servers = Record<Place, Server>;

const places: Place[] = ['garden', 'seed'];
const ours = serviceAccountUser('');

/** `probe` in shared/kube/exchange.ts asks without credentials, where a server is slow to answer, as on a busy machine. */
const isProbe = ({ user, requestUri }: AuditEntry) => user === 'system:anonymous' && requestUri === '/version';

/**
 * A server that finds its client gone while it verifies the token writes this too, though the token is valid: 11 of 200
 * requests that were aborted after 2 ms. A process killed at random leaves such requests.
 */
const isUnverified = ({ user, code }: AuditEntry) => user === '' && code === 401;

/** Returns the requests of the product that the server has verified, without its probes. */
export async function ownEntries(server: Server): Promise<AuditEntry[]> {
  const entries = await server.auditEntries();
  const isOwn = (entry: AuditEntry) => entry.userAgent.startsWith('shoot-flux/');
  return entries.filter((entry) => isOwn(entry) && !isProbe(entry) && !isUnverified(entry));
}

/** Requests of the product that were forbidden, as `place identity verb resource`. */
export async function refused(servers: Servers): Promise<string[]> {
  const lines = new Set<string>();
  for (const place of places) {
    for (const { user, verb, resource, name, code } of await servers[place].auditEntries()) {
      if (user.startsWith(ours) && code === 403)
        lines.add(`${place} ${user.slice(ours.length)} ${verb} ${resource} ${name}`);
    }
  }
  return [...lines];
}

/**
 * Returns one sentence for each right that could be removed from the roles without one of the requests until now being
 * refused.
 * @param objects roles with their bindings
 */
export async function dispensableRights(server: Server, objects: KubeObject[]): Promise<string[]> {
  return dispensable(rightsOf(objects), (await server.auditEntries()).flatMap(needsOf));
}

/**
 * Requests of a user that were forbidden, and the rights that this user does not need, one sentence each.
 * @param objects roles with their bindings
 */
export async function wrongRights(server: Server, objects: KubeObject[], user: string): Promise<string[]> {
  const entries = (await server.auditEntries()).filter((entry) => entry.user === user);
  const refused = entries.filter(({ code }) => code === 403);
  const rights = rightsOf(objects).filter(({ users }) => users.includes(user));
  if (rights.length === 0) return [`${user} has no rights`];
  return [
    ...refused.map(({ verb, requestUri }) => `${user} may not ${verb} ${requestUri}`),
    ...dispensable(rights, entries.flatMap(needsOf)),
  ];
}

/** Returns what a request needs. An apply that creates needs `create` and `patch`. */
export function needsOf({ user, requestUri, resource, namespace, verb, name, code }: AuditEntry): Need[] {
  const group = /^\/apis\/([^/]+)\//.exec(requestUri)?.[1] ?? '';
  const verbs = verb === 'patch' && code === 201 ? ['patch', 'create'] : [verb];
  return verbs.map((each) => ({ user, verb: each, group, resource, namespace, name }));
}
