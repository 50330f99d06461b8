import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { FLUX_STATUS } from '../../shared/config/project-config.ts';
import type { HttpKubeClient } from '../../shared/kube/http-client.ts';
import { inParallel } from '../../shared/runtime/in-parallel.ts';
import { isSilent } from '../fleet/fleet.ts';
import { hasRight } from '../fleet/who.ts';
import type { Snapshot } from './summary.ts';

/** Who looks, as a proxy in front of the page says. */
export interface Identity {
  user: string;
  groups: readonly string[];
}

/** What a Shoot's page shows needs one of these rights in the project. */
const rights = {
  lines: { verb: 'get', group: '', resource: 'configmaps', name: FLUX_STATUS },
  shoots: { verb: 'list', group: 'core.gardener.cloud', resource: 'shoots' },
  events: { verb: 'list', group: '', resource: 'events' },
} as const;

export type Right = keyof typeof rights;

/** Says whether somebody has a right in a namespace. */
export type MayUser = (identity: Identity, right: Right, namespace: string) => Promise<boolean>;

/** Measures how long an answer counts, in milliseconds; the time of day may be set back. */
export type Clock = Pick<typeof performance, 'now'>;

/** How long an answer counts. */
const KEPT_MS = 30_000;

/** Answers of 30 s: an operator asks three times, a member three times per project. */
const MOST_ANSWERS = 100_000;

/** Asks the API server with SubjectAccessReviews: first whether the right holds everywhere, then in the namespace. */
export function createAccess(garden: Pick<HttpKubeClient, 'ask'>, clock: Clock): MayUser {
  const answers = new LRUCache<string, boolean, Parameters<MayUser>>({
    ...{ max: MOST_ANSWERS, ttl: KEPT_MS, ttlResolution: 0, perf: clock },
    fetchMethod: (_key, _stale, { context: [{ user, groups }, right, namespace] }) =>
      hasRight(garden, 'SubjectAccessReview', {
        // A proxy has authenticated the user, and API servers add this group to all of those.
        ...{ user, groups: [...groups, 'system:authenticated'] },
        resourceAttributes: { ...rights[right], namespace },
      }),
  });
  const ask = async (...context: Parameters<MayUser>): Promise<boolean> =>
    (await answers.fetch(hash('sha256', JSON.stringify(context)), { context })) === true;
  return async (identity, right, namespace) =>
    (await ask(identity, right, '')) || (namespace !== '' && ask(identity, right, namespace));
}

/** Returns the part of a snapshot that the user may read: lines of some projects, and seeds where Shoots may be listed. */
export async function seenBy(identity: Identity, snapshot: Snapshot, may: MayUser): Promise<Snapshot> {
  const { rollouts, suspensions, readAt, isStale } = snapshot;
  const ofShoots = snapshot.shoots.map(({ namespace }) => namespace);
  const namespaces = [...new Set([...ofShoots, ...Object.keys(rollouts), ...Object.keys(suspensions)])];
  const allowed = async (right: Right) => {
    const answers = await inParallel(namespaces, (namespace) => may(identity, right, namespace));
    return new Set(namespaces.filter((_, index) => answers[index]));
  };
  const [lines, seeds] = await Promise.all([allowed('lines'), allowed('shoots')]);
  const shoots = snapshot.shoots
    .filter((shoot) => lines.has(shoot.namespace) && (seeds.has(shoot.namespace) || !isSilent(shoot)))
    .map((shoot) => (seeds.has(shoot.namespace) ? shoot : { ...shoot, seed: '' }));
  const own = <T>(entries: Iterable<[string, T]>) => [...entries].filter(([namespace]) => lines.has(namespace));
  // They name other projects.
  const { unseen, landscape } = (await may(identity, 'lines', '')) ? snapshot : { unseen: [], landscape: undefined };
  // Field by field, so that a new one is not shown to everybody.
  return {
    ...{ shoots, unseen, landscape, readAt, isStale },
    rollouts: Object.fromEntries(own(Object.entries(rollouts))),
    suspensions: Object.fromEntries(own(Object.entries(suspensions))),
    states: new Map(own(snapshot.states)),
  };
}
