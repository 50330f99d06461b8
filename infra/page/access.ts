import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { FLUX_STATUS } from '../../shared/config/project-config.ts';
import type { HttpKubeClient } from '../../shared/kube/http-client.ts';
import { inParallel } from '../../shared/runtime/in-parallel.ts';
import { fieldsAt } from '../../shared/shapes.ts';
import { isSilent } from '../fleet/fleet.ts';
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

/** How long an answer counts. */
const KEPT_MS = 30_000;

/** Answers of 30 s: an operator asks three times, a member three times per project. */
const MOST_ANSWERS = 100_000;

/** Asks the API server with SubjectAccessReviews: first whether the right holds everywhere, then in the namespace. */
export function createAccess(garden: Pick<HttpKubeClient, 'ask'>): MayUser {
  const answers = new LRUCache<string, Promise<boolean>>({ max: MOST_ANSWERS, ttl: KEPT_MS });
  const review = async ({ user, groups }: Identity, right: Right, namespace: string) => {
    const resourceAttributes = { ...rights[right], namespace };
    const answer = await garden.ask('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      ...{ apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' },
      // A proxy has authenticated the user, and API servers add this group to all of those.
      spec: { user, groups: [...groups, 'system:authenticated'], resourceAttributes },
    });
    return fieldsAt(answer, 'status')?.allowed === true;
  };
  const ask = (identity: Identity, right: Right, namespace: string): Promise<boolean> => {
    const key = hash('sha256', JSON.stringify([identity, right, namespace]));
    const known = answers.get(key);
    if (known !== undefined) return known;
    const answer = review(identity, right, namespace);
    answers.set(key, answer);
    answer.catch(() => answers.delete(key));
    return answer;
  };
  return async (identity, right, namespace) =>
    (await ask(identity, right, '')) || (namespace !== '' && ask(identity, right, namespace));
}

/** Returns the part of a snapshot that the user may read: lines of some projects, and seeds where Shoots may be listed. */
export async function seenBy(identity: Identity, snapshot: Snapshot, may: MayUser): Promise<Snapshot> {
  const namespaces = [
    ...new Set([
      ...snapshot.shoots.map(({ namespace }) => namespace),
      ...Object.keys(snapshot.rollouts),
      ...Object.keys(snapshot.suspensions),
    ]),
  ];
  const answers = await inParallel(namespaces, (namespace) =>
    Promise.all([may(identity, 'lines', namespace), may(identity, 'shoots', namespace)]),
  );
  const readable = (at: 0 | 1) => new Set(namespaces.filter((_, index) => answers[index]?.[at]));
  const [lines, seeds] = [readable(0), readable(1)];
  const shoots = snapshot.shoots
    .filter((shoot) => lines.has(shoot.namespace) && (seeds.has(shoot.namespace) || !isSilent(shoot)))
    .map((shoot) => (seeds.has(shoot.namespace) ? shoot : { ...shoot, seed: '' }));
  const own = <T>(entries: Iterable<[string, T]>) => [...entries].filter(([namespace]) => lines.has(namespace));
  const { readAt, isStale } = snapshot;
  // They name other projects.
  const unseen = (await may(identity, 'lines', '')) ? snapshot.unseen : [];
  // Field by field, so that a new one is not shown to everybody.
  return {
    ...{ shoots, unseen, readAt, isStale },
    rollouts: Object.fromEntries(own(Object.entries(snapshot.rollouts))),
    suspensions: Object.fromEntries(own(Object.entries(snapshot.suspensions))),
    states: new Map(own(snapshot.states)),
  };
}
