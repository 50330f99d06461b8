import { join } from 'node:path';
import type { JsonObject } from '../landscape/kube-api/json.ts';
import { startKubeApi } from '../landscape/kube-api/kube-api.ts';
import { gardenCrds, seedCrds } from '../landscape/seed/crds.ts';
import type { Apis } from '../scenarios/stage.ts';

/** The small distribution that was written for this project. */
export const ownDistribution = join(import.meta.dirname, '../landscape/distribution');

/** A garden, a seed and a shoot in this process. */
export async function startEmbeddedApis(): Promise<Apis> {
  const [garden, seed, shoot] = await Promise.all([
    startKubeApi({ objects: gardenCrds() as JsonObject[] }),
    startKubeApi({ objects: seedCrds() as JsonObject[] }),
    startKubeApi({ namespaceController: true }),
  ]);
  return {
    garden,
    seed,
    shoot,
    stop: async () => void (await Promise.all([garden, seed, shoot].map((api) => api.stop()))),
  };
}
