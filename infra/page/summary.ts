import { type RolloutState, rolloutIn } from '../../shared/gardener/rollout.ts';
import { isOwn } from '../../shared/gardener/status-map.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { type Fleet, fleetIn, readShoots, readStatusMaps } from '../fleet/fleet.ts';
import { repeat } from '../repeat.ts';

/** What the garden said about all Shoots when it was last read. */
export interface Snapshot extends Fleet {
  /** Namespace -> how far its rollout has come, where a project has one. */
  states: ReadonlyMap<string, RolloutState>;
  readAt: Date;
  /** True: the garden has not answered since. */
  isStale: boolean;
}

/** What a summary reads, and where it reports failures. */
interface SummaryOptions {
  garden: KubeClient;
  /** Undefined: all projects. */
  namespace: string | undefined;
  onFailed(message: string): void;
  /** Default: 5 s; at least ten times as long as reading takes. */
  pauseMs?: number;
}

const PAUSE_MS = 5_000;

/** Seeds and labels change rarely, and the metadata of 10,000 Shoots are 20 MB. */
const SHOOTS_MS = 60_000;

/** Nobody looks: the garden is left alone. */
const IDLE_MS = 60_000;

/**
 * Reads the garden once, and then again and again in the background, as long as somebody looks.
 * @throws UnseenError when the credentials show nothing
 */
export async function startSummary({ garden, namespace, onFailed, pauseMs = PAUSE_MS }: SummaryOptions) {
  let shoots: (Awaited<ReturnType<typeof readShoots>> & { at: number }) | undefined;
  const read = async () => {
    const maps = await readStatusMaps(garden, namespace);
    if (shoots === undefined || Date.now() - shoots.at >= SHOOTS_MS)
      shoots = { ...(await readShoots(garden, namespace)), at: Date.now() };
    const states = maps.filter(isOwn).flatMap((map): [string, RolloutState][] => {
      const state = rolloutIn(map);
      return state === undefined ? [] : [[map.metadata.namespace ?? '', state]];
    });
    const fleet = fleetIn(maps, shoots, namespace);
    return { ...fleet, states: new Map(states), readAt: new Date() };
  };
  let snapshot = await read();
  let problem: string | undefined;
  let looked = 0;
  let pause = pauseMs;
  const reading = repeat(
    () => pause,
    async () => {
      if (Date.now() - looked > IDLE_MS) return problem;
      const began = Date.now();
      try {
        snapshot = await read();
        return undefined;
      } finally {
        pause = Math.max(pauseMs, 10 * (Date.now() - began));
      }
    },
    (found) => {
      problem = found;
      if (found !== undefined) onFailed(found);
    },
  );
  return {
    /** Returns at once what was last read. */
    latest(): Snapshot {
      looked = Date.now();
      return { ...snapshot, isStale: problem !== undefined };
    },
    [Symbol.asyncDispose]: reading.stop,
  };
}
