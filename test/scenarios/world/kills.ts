import type { RequestSummary } from '@shoot-flux/landscape/kube-api';

export type ClusterName = 'garden' | 'seed' | 'shoot';

/** A request of a function, at which the world can be stopped. */
export interface FunctionRequest {
  /** Counts from 1. */
  number: number;
  cluster: ClusterName;
  summary: RequestSummary;
  /** Number of changes before it, by anyone: between two changes the clusters stay the same. */
  state: number;
  /** Number of the run that made it. */
  run: number;
  /** The moments before and after it is carried out, and at the start of its run, to which the world can return. */
  before?: Moment;
  after?: Moment;
  start?: Moment;
}

/** Brings back everything as it was at a moment of the life without a kill; its run is lost unless it `begins` again. */
export type Moment = (run?: { begins: boolean }) => void;

/**
 * What dies, and what happens meanwhile.
 * `process`: the whole product dies with everything in its memory, and starts again.
 * `outage`: the same, but resource-manager and Flux work for a while before it starts again.
 * `missed`: the same, and all remaining steps of the lifecycle happen while the product is down.
 * `function`: only the run dies, as a Lambda does; its message is redelivered.
 * `late`: the run overruns its lease: its message is redelivered, and the run continues after everything else.
 * `overtaken`: the same, and all remaining steps of the lifecycle happen while it waits.
 */
export type KillKind = 'process' | 'outage' | 'missed' | 'function' | 'late' | 'overtaken';

/** A point at which the world stops. */
export interface Kill {
  /** Number of the request of a function; `every write`: again and again, so that no instance writes twice. */
  at: number | 'every write';
  /** `before` it is carried out, or `after`, when the answer is lost. */
  when: 'before' | 'after';
  kind: KillKind;
}

/** True for runs that the queue takes for lost although they continue. */
export const runContinues = (kind: KillKind) => kind === 'late' || kind === 'overtaken';
/** True when all remaining steps of the lifecycle happen at once, at the kill. */
export const happensAtOnce = (kind: KillKind) => kind === 'missed' || kind === 'overtaken';

/**
 * Returns one kill for each state in which a kill can make a difference. The functions keep nothing in memory, so after
 * a kill only the clusters and, when just a run dies, the queue remain: moments with the same clusters (and the same
 * run) count as one.
 */
export function killPerState(requests: FunctionRequest[], kind: KillKind): Kill[] {
  const seen = new Set<string>();
  const moments = requests.flatMap(({ number, summary, state, run }, index) => {
    const stateAfter = requests[index + 1]?.state ?? state + 1;
    return [
      { at: number, when: 'before' as const, state, run },
      ...(summary.method === 'GET' ? [] : [{ at: number, when: 'after' as const, state: stateAfter, run }]),
    ];
  });
  return moments.flatMap(({ at, when, state, run }) => {
    if (runContinues(kind) && when === 'after') return [];
    // One of a row of writes into the shoot stands for all of them: each checks first what exists.
    if (repeatsPreviousWrite(requests, at)) return [];
    const key = kind === 'function' || runContinues(kind) ? `${state} ${run}` : `${state}`;
    if (seen.has(key)) return [];
    seen.add(key);
    return [{ at, when, kind }];
  });
}

/** True when the write before did the same with another object of the same kind in the shoot. */
function repeatsPreviousWrite(requests: FunctionRequest[], at: number): boolean {
  const writes = requests.filter(({ number, summary }) => number <= at && summary.method !== 'GET').slice(-2);
  const [one, other] = writes.map(({ cluster, summary }) =>
    cluster === 'shoot' ? `${summary.method} ${summary.path.replace(/[^/]+$/, '')}` : undefined,
  );
  return one !== undefined && one === other;
}

/** Returns two kills for each request: before it is carried out, and after it, when the answer is lost. */
export function killPerRequest(requests: FunctionRequest[], kind: KillKind): Kill[] {
  return requests.flatMap(({ number }) => [
    { at: number, when: 'before', kind },
    { at: number, when: 'after', kind },
  ]);
}
