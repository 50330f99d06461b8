import { type KubeObject, resources } from './client/client.ts';
import { startCluster } from './cluster.ts';
import { startKustomizeController } from './flux/kustomize-controller.ts';
import { startSourceController } from './flux/source-controller.ts';
import { restrictions } from './gardener/restrictions.ts';
import type { Shoot } from './gardener/types.ts';
import { type GardenShoot, technicalIdOf } from './gardenlet/control-plane.ts';
import { createGardenlet, type GardenletOptions } from './gardenlet/gardenlet.ts';
import { gardenCrds, seedCrds } from './seed/crds.ts';
import { createControlPlanes, createShoots } from './shoot/control-planes.ts';

export interface LandscapeOptions {
  /** Names of the seeds. Default one: `local`. */
  seeds?: readonly string[];
  /** `reconcileTimeout` of the registration, in ms. Default 3 min. */
  reconcileMs?: number;
  /** The resource-manager's pause while objects are terminating. Default 5 s, as in the real one. */
  pendingMs?: number;
  /** Called before each step of a flow of gardenlet, with the technical id of the Shoot. */
  onStep?: GardenletOptions['onStep'];
}

/** A Gardener landscape in this process. */
export type Landscape = Awaited<ReturnType<typeof startLandscape>>;

/** Starts garden and seeds on loopback. The caller drives the gardenlets: `seed.gardenlet`. */
export async function startLandscape(options: LandscapeOptions = {}) {
  const { seeds: names = ['local'] } = options;
  const garden = await startCluster(gardenCrds(), { webhooks: restrictions });
  const shoots = createShoots();

  const nodes = {
    programs: { 'source-controller': startSourceController, 'kustomize-controller': startKustomizeController },
  };

  const startSeed = async (seedName: string) => {
    const cluster = await startCluster(seedCrds(), { namespaceController: true });
    const controlPlanes = createControlPlanes({
      seed: cluster.connection,
      shoots,
      nodes,
      ...(options.pendingMs === undefined ? {} : { pendingMs: options.pendingMs }),
    });
    const gardenlet = createGardenlet({
      garden: garden.client,
      seed: cluster.client,
      seedName,
      controlPlanes,
      ...(options.reconcileMs !== undefined && { reconcileMs: options.reconcileMs }),
      ...(options.onStep && { onStep: options.onStep }),
    });
    const stop = async () => {
      await controlPlanes.stop();
      await cluster.stop();
    };
    return [seedName, { ...cluster, gardenlet, stop }] as const;
  };
  const seeds = new Map(await Promise.all(names.map(startSeed)));

  return {
    garden,
    seeds,
    /** The only seed. @throws when there are several */
    get seed() {
      const [only, ...others] = seeds.values();
      if (only === undefined || others.length > 0) throw new Error('This landscape has several seeds; name one.');
      return only;
    },
    /** Returns the API of a shoot by its technical id; undefined before gardenlet has created it. */
    shoot: (technicalId: string) => shoots.get(technicalId),
    /** Creates a Project and its namespace, and returns the namespace. */
    async createProject(name: string) {
      const namespace = `garden-${name}`;
      const labels = { 'gardener.cloud/role': 'project', 'project.gardener.cloud/name': name };
      const fieldManager = 'landscape';
      await garden.client.apply(
        resources.namespaces,
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } },
        { fieldManager },
      );
      const project: KubeObject = {
        apiVersion: 'core.gardener.cloud/v1beta1',
        kind: 'Project',
        metadata: { name },
        spec: { namespace },
        status: { phase: 'Ready' },
      };
      await garden.client.apply(resources.projects, project, { fieldManager });
      return namespace;
    },
    /** Creates a Shoot, with the extension unless `spec` has other ones. Then call `seed.gardenlet.reconcile`. */
    createShoot: (namespace: string, name: string, spec: Shoot['spec'] = {}) =>
      garden.client.create<GardenShoot>(resources.shoots, shootOf(namespace, name, spec, names[0]), {
        fieldManager: 'landscape',
      }),
    async stop() {
      await Promise.all([...seeds.values()].map((seed) => seed.stop()));
      await Promise.all([garden.stop(), shoots.stop()]);
    },
  };
}

export { technicalIdOf };

function shootOf(namespace: string, name: string, spec: Shoot['spec'], seedName: string | undefined): GardenShoot {
  return {
    apiVersion: 'core.gardener.cloud/v1beta1',
    kind: 'Shoot',
    metadata: { name, namespace },
    spec: {
      cloudProfile: { name: 'local' },
      region: 'local',
      purpose: 'evaluation',
      kubernetes: { version: '1.35.2' },
      provider: { type: 'local', workers: [{ name: 'worker' }] },
      networking: { pods: '100.64.0.0/12', services: '100.104.0.0/13', nodes: '10.0.0.0/16' },
      dns: { domain: `${name}.example.org` },
      extensions: [{ type: 'shoot-flux' }],
      ...(seedName === undefined ? {} : { seedName }),
      ...spec,
    },
  };
}
