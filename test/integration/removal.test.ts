import { join } from 'node:path';
import type { JsonObject } from '../landscape/kube-api/json.ts';
import { startKubeApi } from '../landscape/kube-api/kube-api.ts';
import { gardenCrds, seedCrds } from '../landscape/seed/crds.ts';
import { removalSuite } from '../scenarios/removal.ts';

removalSuite(
  'removal on embedded API servers',
  async () => {
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
  },
  join(import.meta.dirname, '../landscape/distribution'),
);
