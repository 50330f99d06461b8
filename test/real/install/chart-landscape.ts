import type { KubeObject } from '../../../shared/kube/resource.ts';
import { SEED } from '../../scenarios/stage.ts';
import { type RealApis, startRealApis } from '../apis.ts';
import { installationRights } from './chart-rights.ts';
import { gardenletValues, INSTALLATION } from './gardenlet-values.ts';
import { renderChart } from './helm.ts';
import { applyObjects, serviceAccountToken } from './objects.ts';
import { installOptionalKinds } from './optional-kinds.ts';
import { type Pod, startPod } from './pod.ts';

/** The identity of the installation in the garden: gardenlet creates it in the namespace of the seed. */
const gardenAccount = { namespace: `seed-${SEED}`, name: INSTALLATION };

/** The users that the Pods may be, in garden and seed. */
export const podUsers = {
  garden: [`system:serviceaccount:${gardenAccount.namespace}:${gardenAccount.name}`],
  seed: ['shoot-flux', 'shoot-flux-webhooks'].map((name) => `system:serviceaccount:${INSTALLATION}:${name}`),
};

/** Real API servers of garden, seed and shoot; in the seed the chart, as gardenlet installs it. */
export interface ChartLandscape {
  apis: RealApis;
  /** The roles and bindings that the charts have rendered until now, in all modes. */
  rights: { garden: KubeObject[]; seed: KubeObject[] };
  /** Renders the chart with a gardenlet's values and these, and applies it. */
  install(values: Record<string, unknown>): Promise<void>;
  /**
   * Starts a Pod of an installed Deployment.
   * @param flags in place of what the image contains, and of ports that may be taken
   */
  start(name: 'shoot-flux' | 'shoot-flux-webhooks', flags?: string[]): Promise<Pod>;
}

export async function startChartLandscape(): Promise<ChartLandscape> {
  const apis = await startRealApis();
  const { garden, seed } = apis.servers;
  const ofGarden = await installationRights(() => gardenAccount);
  await installOptionalKinds(seed);
  await applyObjects(garden, [namespaceOf(gardenAccount.namespace), ...ofGarden]);
  await applyObjects(seed, [namespaceOf(INSTALLATION)]);
  const rights = { garden: ofGarden, seed: [] as KubeObject[] };
  let installed: KubeObject[] = [];
  return {
    apis,
    rights,
    async install(values) {
      installed = await renderChart({ namespace: INSTALLATION, values: { ...gardenletValues(SEED), ...values } });
      rights.seed.push(...installed.filter(({ apiVersion }) => apiVersion.startsWith('rbac.')));
      await applyObjects(seed, installed);
    },
    async start(name, flags) {
      const deployment = installed.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name);
      if (deployment === undefined) throw new Error(`${name} is not installed`);
      const token = await serviceAccountToken(garden, gardenAccount.namespace, gardenAccount.name);
      const injected = {
        files: { [GARDEN_KUBECONFIG]: garden.kubeconfig(token) },
        env: { GARDEN_KUBECONFIG, SEED_NAME: SEED },
      };
      return startPod({ deployment, cluster: seed, injected, ...(flags && { flags }) });
    },
  };
}

/** Where gardenlet mounts it. */
const GARDEN_KUBECONFIG = '/var/run/secrets/gardener.cloud/garden/generic-kubeconfig/kubeconfig';

const namespaceOf = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
