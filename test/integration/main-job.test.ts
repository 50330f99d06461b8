import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import type { JsonObject } from '@shoot-flux/landscape/kube-api';
import { type KubeApi, startKubeApi } from '@shoot-flux/landscape/kube-api';
import { type Place, shippedIdentities, shippedRbac, tokenOf } from '../scenarios/identities.ts';
import { mainJobSuite } from '../scenarios/main-job.ts';
import type { Api } from '../scenarios/stage.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

mainJobSuite(
  'the main job on embedded API servers',
  async () => {
    const [garden, seed, shoot] = await Promise.all([
      startWithShippedRights('garden'),
      startWithShippedRights('seed'),
      startKubeApi({ namespaceController: true }),
    ]);
    return {
      garden: withTokens(garden),
      seed: withTokens(seed),
      shoot,
      stop: async () => void (await Promise.all([garden, seed, shoot].map((api) => api.stop()))),
    };
  },
  standInDistribution.folder,
);

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
