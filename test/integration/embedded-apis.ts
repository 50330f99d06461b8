import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import type { JsonObject } from '@shoot-flux/landscape/kube-api';
import { type KubeApi, startKubeApi } from '@shoot-flux/landscape/kube-api';
import { type Place, shippedIdentities, shippedRbac, tokenOf } from '../scenarios/identities.ts';
import type { Api, Apis } from '../scenarios/stage.ts';

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

/**
 * Starts them so that the watcher and each function have only the rights that are shipped.
 * @param observe gets the garden before anything happens there
 */
export async function startApisWithShippedRights(observe: (garden: KubeApi) => void = () => {}): Promise<Apis> {
  const [garden, seed, shoot] = await Promise.all([
    startWithShippedRights('garden'),
    startWithShippedRights('seed'),
    startKubeApi({ namespaceController: true }),
  ]);
  observe(garden);
  return {
    garden: withTokens(garden),
    seed: withTokens(seed),
    shoot,
    stop: async () => void (await Promise.all([garden, seed, shoot].map((api) => api.stop()))),
  };
}

async function startWithShippedRights(place: Place): Promise<KubeApi> {
  const identities = await shippedIdentities();
  const crds = place === 'garden' ? gardenCrds() : seedCrds();
  return startKubeApi({
    authorization: 'RBAC',
    tokens: Object.fromEntries(identities.map(({ token, user }) => [token, { name: user }])),
    objects: [...crds, ...(await shippedRbac(place))] as JsonObject[],
  });
}

function withTokens({ url, ca, token, kubeconfig }: KubeApi): Api {
  return { url, ca, token, kubeconfig, tokenOf };
}
