import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage } from '../../shared/errors.ts';
import { type RolloutState, rolloutIn } from '../../shared/gardener/rollout.ts';
import { isOwn } from '../../shared/gardener/status-map.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { type Fleet, fleetIn, readShoots, readStatusMaps } from '../fleet/fleet.ts';

/** What the garden said about all Shoots when it was last read. */
export interface Snapshot extends Fleet {
  /** Namespace -> how far its rollout has come, where a project has one. */
  states: ReadonlyMap<string, RolloutState>;
  readAt: Date;
  /** True: the garden has not answered since. */
  isStale: boolean;
}

/** Reads the garden again and again, as long as somebody looks. */
export interface Summary extends AsyncDisposable {
  /** Returns at once what was last read. */
  latest(): Snapshot;
  /** Ends when the summary is disposed of. */
  signal: AbortSignal;
}

/** What a summary reads, and where it reports failures. */
export interface SummaryOptions {
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

/** Reads the garden once, and then in the background. @throws UnseenError when the credentials show nothing */
export async function startSummary(options: SummaryOptions): Promise<Summary> {
  const { garden, namespace, onFailed, pauseMs = PAUSE_MS } = options;
  let shoots: (Awaited<ReturnType<typeof readShoots>> & { at: number }) | undefined;
  const read = async (): Promise<Snapshot> => {
    const maps = await readStatusMaps(garden, namespace);
    if (shoots === undefined || Date.now() - shoots.at >= SHOOTS_MS)
      shoots = { ...(await readShoots(garden, namespace)), at: Date.now() };
    const states = maps.filter(isOwn).flatMap((map): [string, RolloutState][] => {
      const state = rolloutIn(map);
      return state === undefined ? [] : [[map.metadata.namespace ?? '', state]];
    });
    const fleet = fleetIn(maps, shoots, namespace);
    return { ...fleet, states: new Map(states), readAt: new Date(), isStale: false };
  };
  let snapshot = await read();
  let looked = Date.now();
  const stop = new AbortController();
  const { signal } = stop;
  const follow = async () => {
    let pause = pauseMs;
    while (!signal.aborted) {
      await sleep(pause, undefined, { signal }).catch(() => {});
      if (signal.aborted || Date.now() - looked > IDLE_MS) continue;
      const began = Date.now();
      try {
        snapshot = await read();
      } catch (error) {
        if (!signal.aborted && !snapshot.isStale) onFailed(errorMessage(error));
        snapshot = { ...snapshot, isStale: true };
      }
      pause = Math.max(pauseMs, 10 * (Date.now() - began));
    }
  };
  const following = follow();
  return {
    signal,
    latest() {
      looked = Date.now();
      return snapshot;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await following;
    },
  };
}
