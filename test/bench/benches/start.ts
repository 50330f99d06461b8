import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { bench } from '../bench.ts';
import { startEmbeddedClusters } from '../landscape/embedded-clusters.ts';
import { residentMb } from '../landscape/process-usage.ts';
import { startProductProcess } from '../landscape/product-process.ts';
import { median } from '../numbers.ts';

const STARTS = 7;
const IDLE_SECONDS = 20;

/** A process in an empty landscape, whose API server is this process: it sees when each watch is opened. */
export const startBench = bench(
  'start',
  {
    watches: { what: 'start of `run` until its watches are open, nothing to see', unit: 's', atMost: 0.6 },
    memory: { what: 'memory of `run`, idle', unit: 'MB', atMost: 100 },
  },
  async (progress) => {
    await using clusters = await startEmbeddedClusters({}, [...gardenCrds(), ...seedCrds()]);
    const seconds: number[] = [];
    const megabytes: number[] = [];
    for (let run = 0; run < STARTS; run++) {
      using watches = seenWatches();
      const started = performance.now();
      await using product = await startProductProcess(clusters.seed.kubeconfigFile);
      const expected = await watchedSelections(product.address);
      seconds.push(((await watches.until(expected)) - started) / 1000);
      if (run < STARTS - 1) continue;
      await sleep(IDLE_SECONDS * 1000);
      megabytes.push(residentMb(product.pid));
    }
    progress(`${seconds.map((value) => value.toFixed(2)).join(' ')} s`);
    return {
      watches: { value: median(seconds), note: `median of ${STARTS} processes` },
      memory: { value: median(megabytes), note: `resident, after ${IDLE_SECONDS} s` },
    };
  },
);

/** Records when this process is asked for watches. */
export function seenWatches() {
  const times = new Map<string, number>();
  const onStart = (message: unknown) => {
    const { url = '' } = (message as { request: IncomingMessage }).request;
    if (url.includes('watch=true'))
      times.set(url.replace(/&(resourceVersion|timeoutSeconds)=\d+/g, ''), performance.now());
  };
  subscribe('http.server.request.start', onStart);
  return {
    async until(count: number): Promise<number> {
      while (times.size < count) await sleep(5);
      return Math.max(...times.values());
    },
    [Symbol.dispose]: () => void unsubscribe('http.server.request.start', onStart),
  };
}

/** Returns the number of lists and watches that `/readyz` names; several identities may watch the same objects. */
export async function watchedSelections(address: string): Promise<number> {
  const text = await (await fetch(`${address}/readyz`)).text();
  return new Set(text.match(/^ok \S+ \S+(?: \S+)?: \d+ objects/gm)).size;
}
