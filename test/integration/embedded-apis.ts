import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import type { JsonObject } from '@shoot-flux/landscape/kube-api';
import { type KubeApi, type KubeApiOptions, startKubeApi } from '@shoot-flux/landscape/kube-api';
import { restrictions } from '@shoot-flux/landscape/restrictions';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { type Installation, startShippedApi, tokenOf } from '../scenarios/identities.ts';
import type { Api, Apis } from '../scenarios/stage.ts';

/** The small stand-in distribution of this project. */
export const ownDistribution = standInDistribution.folder;

/**
 * Starts a garden, a seed and a shoot in this process.
 * @param ofShoot more options of the shoot's API server
 * @param tokens that all of them accept besides the administrator's
 */
export async function startEmbeddedApis(ofShoot: KubeApiOptions = {}, tokens: KubeApiOptions['tokens'] = {}) {
  const [garden, seed, shoot] = await Promise.all([
    startKubeApi({ objects: gardenCrds() as JsonObject[], webhooks: restrictions, tokens }),
    startKubeApi({ objects: seedCrds() as JsonObject[], tokens }),
    startKubeApi({ namespaceController: true, tokens, ...ofShoot }),
  ]);
  const stop = async () => void (await Promise.all([garden, seed, shoot].map((api) => api.stop())));
  return { garden, seed, shoot, stop };
}

/**
 * Starts them so that the watcher and each function have only the rights that are shipped.
 * @param observe gets the garden before anything happens there
 * @param installation in the garden, all share the account of an installation
 */
export async function startApisWithShippedRights(
  observe: (garden: KubeApi) => void = () => {},
  installation?: Installation,
): Promise<Apis> {
  const [garden, seed, shoot] = await Promise.all([
    startShippedApi('garden', installation),
    startShippedApi('seed'),
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

function withTokens({ url, ca, token, kubeconfig }: KubeApi): Api {
  return { url, ca, token, kubeconfig, tokenOf };
}

const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
/** A CRD with one version that takes everything. */
export const crdOf = (kind: string, group: string, plural: string, version: string): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [{ name: version, served: true, storage: true, schema }],
  },
});
