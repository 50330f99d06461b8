import { type FunctionRequest, goesOn, type Kill } from './world.ts';

/**
 * Every moment at which a kill can make a difference. The functions keep nothing, so after a kill only the clusters
 * and, when just a run dies, the queue are left: moments with the same clusters (and the same run) are one.
 */
export function killsOf(requests: FunctionRequest[], what: Kill['what']): Kill[] {
  const seen = new Set<string>();
  const moments = requests.flatMap(({ number, summary, state, run }, index) => {
    const stateAfter = requests[index + 1]?.state ?? state + 1;
    return [
      { at: number, when: 'before' as const, state, run },
      ...(summary.method === 'GET' ? [] : [{ at: number, when: 'after' as const, state: stateAfter, run }]),
    ];
  });
  return moments.flatMap(({ at, when, state, run }) => {
    if (goesOn(what) && when === 'after') return [];
    // One of a row of writes into the shoot stands for all of them: each looks first at what is there.
    if (isRow(requests, at)) return [];
    const key = what === 'function' || goesOn(what) ? `${state} ${run}` : `${state}`;
    if (seen.has(key)) return [];
    seen.add(key);
    return [{ at, when, what }];
  });
}

/** True when the write before did the same with another object of the same kind in the shoot. */
function isRow(requests: FunctionRequest[], at: number): boolean {
  const writes = requests.filter(({ number, summary }) => number <= at && summary.method !== 'GET').slice(-2);
  const [one, other] = writes.map(({ cluster, summary }) =>
    cluster === 'shoot' ? `${summary.method} ${summary.path.replace(/[^/]+$/, '')}` : undefined,
  );
  return one !== undefined && one === other;
}

/** Every request, before it is carried out and after. */
export function allKillsOf(requests: FunctionRequest[], what: Kill['what']): Kill[] {
  return requests.flatMap(({ number }) => [
    { at: number, when: 'before', what },
    { at: number, when: 'after', what },
  ]);
}
