import type { KubeClient } from '../../../shared/kube/client.ts';

/** Ends a run as a kill does: nothing that it would do afterwards happens. */
export class Killed extends Error {
  override name = 'Killed';
}

/** Counts the requests of a run, and kills it at one of them. */
export interface Death {
  wrap(client: KubeClient): KubeClient;
  /** How many requests the run has made. */
  requests(): number;
}

/** @param at the request at which the run dies, from 1 on; `after`: the API server carries it out */
export function dying(at: number, when: 'before' | 'after'): Death {
  let count = 0;
  const call = async <T>(act: () => Promise<T>): Promise<T> => {
    const number = ++count;
    if (number > at || (number === at && when === 'before')) throw new Killed();
    const answer = await act();
    if (number === at) throw new Killed();
    return answer;
  };
  return {
    wrap: (client) => ({
      ...client,
      find: (...args) => call(() => client.find(...args)) as never,
      create: (...args) => call(() => client.create(...args)) as never,
      apply: (...args) => call(() => client.apply(...args)) as never,
      mergePatch: (...args) => call(() => client.mergePatch(...args)) as never,
    }),
    requests: () => count,
  };
}
