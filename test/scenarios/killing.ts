import type { KubeClient } from '../../shared/kube/client.ts';
import type { Resource } from '../../shared/kube/resource.ts';

/** Ends a run as a kill does: nothing that it would do afterwards happens. */
export class Killed extends Error {
  override name = 'Killed';
}

/** Kills a process at one of its requests. */
export interface Killing {
  /** The client of a run of the process. */
  wrap(client: KubeClient): KubeClient;
  /** Counts requests from here, and kills once: before one of them is carried out, or after it, when its answer is lost. */
  arm(at: number, isAfter: boolean): void;
  /** Requests since then. */
  requests(): number;
  /** The numbers of those that write. */
  writes(): number[];
  /** How often the process has died. */
  kills(): number;
}

/**
 * @param restart called when the process has died
 * @param counts which requests are counted, by the resource that they are about; all others are never the last one
 */
export function killing(restart = () => {}, counts: (resource: Resource) => boolean = () => true): Killing {
  let [requests, at] = [0, Number.POSITIVE_INFINITY];
  let writes: number[] = [];
  let isAfter = false;
  let life = 0;
  const die = (): never => {
    life++;
    restart();
    throw new Killed();
  };
  return {
    wrap(client) {
      const own = life;
      const call = async <T>(resource: Resource, act: () => Promise<T>, isWrite = true): Promise<T> => {
        if (own !== life) throw new Killed();
        if (!counts(resource)) return act();
        const isLast = ++requests === at;
        if (isWrite) writes.push(requests);
        if (isLast && !isAfter) return die();
        // The answer may also be a conflict.
        const answer = await act().catch((error: unknown) => (isLast ? die() : Promise.reject(error)));
        if (isLast) return die();
        if (own !== life) throw new Killed();
        return answer;
      };
      return {
        ...client,
        find: (...args) => call(args[0], () => client.find(...args), false) as never,
        list: (...args) => call(args[0], () => client.list(...args), false) as never,
        create: (...args) => call(args[0], () => client.create(...args)) as never,
        apply: (...args) => call(args[0], () => client.apply(...args)) as never,
        mergePatch: (...args) => call(args[0], () => client.mergePatch(...args)) as never,
        delete: (...args) => call(args[0], () => client.delete(...args)),
      };
    },
    arm(number, after) {
      [requests, at, isAfter] = [0, number, after];
      writes = [];
    },
    requests: () => requests,
    writes: () => [...writes],
    kills: () => life,
  };
}
