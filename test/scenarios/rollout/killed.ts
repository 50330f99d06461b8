import { expect } from 'vitest';
import type { Killing } from '../killing.ts';
import { sample, sampling } from '../sampling.ts';
import type { Fleet } from './fleet.ts';

/** What happens to a fleet, until nothing is left to do, and what then holds. */
export type Phase = () => Promise<void>;

/**
 * Lives once undisturbed, and then once for each kill. A fleet keeps nothing between two phases but what is in the
 * clusters, so each of these lives continues from the phase of its kill.
 * @param samples where not every state is killed: a name for each of the samples
 */
export async function liveWithKills(fleet: Fleet, death: Killing, samples: string[], phases: Phase[]): Promise<void> {
  const starts: { bringBack: () => void; requests: number }[] = [];
  death.arm(Number.POSITIVE_INFINITY, false);
  for (const phase of phases) {
    starts.push({ bringBack: fleet.checkpoint(), requests: death.requests() });
    await phase();
  }
  // Between two writes, the clusters stay the same.
  const all =
    sampling === 'states' ? death.writes() : Array.from({ length: death.requests() }, (_, index) => index + 1);
  for (const at of new Set(samples.flatMap((name) => sample(all, name)))) {
    for (const isAfter of sampling === 'states' ? [true] : [false, true]) {
      const first = starts.findLastIndex(({ requests }) => requests < at);
      const { bringBack, requests } = starts[first] as (typeof starts)[number];
      const before = death.kills();
      bringBack();
      death.arm(at - requests, isAfter);
      for (const phase of phases.slice(first)) await phase();
      // Runs that overtake each other in another order may need fewer requests.
      expect(death.kills() - before).toBe(death.requests() >= at - requests ? 1 : 0);
    }
  }
  expect(death.kills()).toBeGreaterThan(0);
}
