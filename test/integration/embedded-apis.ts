import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import type { JsonObject } from '@shoot-flux/landscape/kube-api';
import { startKubeApi } from '@shoot-flux/landscape/kube-api';
import type { Apis } from '../scenarios/stage.ts';

/** The small stand-in distribution of this project. */
export const ownDistribution = standInDistribution.folder;

/** Starts a garden, a seed and a shoot in this process. */
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
