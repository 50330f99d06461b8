import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { gitRepositories } from '@shoot-flux/landscape/flux/objects';
import { type JsonObject, type KubeApi, startKubeApi } from '@shoot-flux/landscape/kube-api';
import { startResourceManager } from '@shoot-flux/landscape/resource-manager';
import { restrictions } from '@shoot-flux/landscape/restrictions';
import type { Extension, ManagedResource } from '../../shared/gardener/types.ts';
import { createKubeClient, type HttpKubeClient } from '../../shared/kube/http-client.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import type { ClusterCredentials } from '../../shared/runtime/clusters.ts';
import type { Settings } from '../../shared/runtime/context.ts';
import { eventually, PROJECT } from './stage.ts';

export const SEEDS = ['a', 'b'] as const;
export type SeedName = (typeof SEEDS)[number];

const fieldManager = 'two-seeds';
const targetNamespaces = ['kube-system', 'flux-system'];

/** A garden, two seeds, and one project with Shoots on both. Deployments of the product are the test's. */
export interface TwoSeeds extends AsyncDisposable {
  apis: Record<'garden' | SeedName, KubeApi>;
  garden: HttpKubeClient;
  /** Which clusters each deployment has asked for anything. */
  asked(deployment: string): string[];
  /** Credentials of a deployment for all clusters, as far as it asks. */
  credentials(deployment: string): () => ClusterCredentials;
  settings(seeds: SeedName[]): Settings;
  /** Creates a Shoot with the extension, as Gardener does, and returns when its Extension has succeeded. */
  createShoot(name: string, seed: SeedName): Promise<void>;
  /** Gardener moves the control plane of a Shoot. */
  migrateShoot(name: string, from: SeedName, to: SeedName): Promise<void>;
  /** The project sets the branch that all Shoots follow. */
  setBranch(branch: string): Promise<void>;
  /** Resolves when the shoot has the branch. */
  untilBranch(name: string, branch: string): Promise<void>;
  branchOf(name: string): Promise<string | undefined>;
  extension(name: string, seed: SeedName): Promise<Extension | undefined>;
  /** The ManagedResources of a Shoot by name, with identity and generation: only writes of the product change them. */
  managedResources(name: string, seed: SeedName): Promise<Record<string, string>>;
}

export const controlPlane = (name: string) => `shoot--foo--${name}`;
const extensionOf = (name: string) => ({ namespace: controlPlane(name), name: 'shoot-flux' });

/** @param fluxDistribution the folder with Flux releases */
export async function startTwoSeeds(fluxDistribution: string): Promise<TwoSeeds> {
  const started = [
    startKubeApi({ objects: gardenCrds() as JsonObject[], webhooks: restrictions }),
    ...[1, 2].map(() => startKubeApi({ objects: seedCrds() as JsonObject[] })),
  ];
  const [gardenApi, a, b] = (await Promise.all(started)) as [KubeApi, KubeApi, KubeApi];
  const apis = { garden: gardenApi, a, b };
  const shoots = new Map<string, { api: KubeApi; client: HttpKubeClient }>();
  const stops: (() => Promise<void> | void)[] = Object.values(apis).map((api) => () => api.stop());
  const clientOf = (api: KubeApi) => {
    const client = createKubeClient(connectionOf(api), { userAgent: 'two-seeds' });
    stops.unshift(() => client.close());
    return client;
  };
  const garden = clientOf(gardenApi);
  const seeds = { a: clientOf(a), b: clientOf(b) };
  const asked = new Map<string, Set<string>>();
  const create = (client: HttpKubeClient, resource: Parameters<typeof client.apply>[0], object: KubeObject) =>
    client.apply(resource, object, { fieldManager });
  await create(garden, resources.namespaces, namespaceOf(PROJECT));

  const writeShoot = async (name: string, seed: SeedName, on: SeedName[]) => {
    const shoot = shootOf(name, seed);
    await create(garden, resources.shoots, shoot);
    for (const each of on) await create(seeds[each], resources.clusters, clusterOf(name, shoot));
  };
  const prepareSeed = async (name: string, seed: SeedName) => {
    const { api } = shoots.get(name) as { api: KubeApi };
    await create(seeds[seed], resources.namespaces, namespaceOf(controlPlane(name)));
    await create(seeds[seed], resources.secrets, kubeconfigOf(name, api.kubeconfig()));
    const options = { source: connectionOf(apis[seed]), target: connectionOf(api), namespace: controlPlane(name) };
    const resourceManager = await startResourceManager({ ...options, targetNamespaces, pendingMs: 200 });
    stops.unshift(() => resourceManager.stop());
  };
  const ask = (name: string, seed: SeedName, operation: string) => {
    const timestamp = new Date().toISOString();
    const annotations = { 'gardener.cloud/operation': operation, 'gardener.cloud/timestamp': timestamp };
    const { namespace } = extensionOf(name);
    const object = {
      apiVersion: 'extensions.gardener.cloud/v1alpha1',
      kind: 'Extension',
      spec: { type: 'shoot-flux' },
    };
    const metadata = { name: 'shoot-flux', namespace, annotations };
    return create(seeds[seed], resources.extensions, { ...object, metadata } as KubeObject);
  };
  const extension = (name: string, seed: SeedName) =>
    seeds[seed].find<Extension>(resources.extensions, extensionOf(name));
  const untilDone = (name: string, seed: SeedName, type: string) =>
    eventually(
      `${type} of ${name} on seed ${seed}`,
      () => extension(name, seed),
      (live) => live?.status?.lastOperation?.type === type && live.status.lastOperation.state === 'Succeeded',
      (live) => live?.status,
    );
  const branchOf = async (name: string) => {
    const source = { namespace: 'flux-system', name: 'main-gitrepo' };
    const live = await shoots.get(name)?.client.find(gitRepositories, source);
    return (live?.spec as { ref?: { branch?: string } } | undefined)?.ref?.branch;
  };

  return {
    apis,
    garden,
    branchOf,
    extension,
    asked: (deployment) => [...(asked.get(deployment) ?? [])].sort(),
    credentials(deployment) {
      const own = new Set<string>();
      asked.set(deployment, own);
      return () => async (cluster) => {
        own.add(cluster);
        return connectionOf(apis[cluster as SeedName]);
      };
    },
    settings: (served) => ({
      ...{ landscape: 'test', seeds: served, fluxDistribution, shootHealth: false },
      ...{ shootAccess: 'external' },
      hostKeyScan: { mode: 'off', allow: [], deny: [] },
    }),
    async createShoot(name, seed) {
      const api = await startKubeApi({ namespaceController: true });
      stops.push(() => api.stop());
      shoots.set(name, { api, client: clientOf(api) });
      await prepareSeed(name, seed);
      await writeShoot(name, seed, [seed]);
      await ask(name, seed, 'reconcile');
      await untilDone(name, seed, 'Create');
    },
    async migrateShoot(name, from, to) {
      await prepareSeed(name, to);
      await writeShoot(name, to, [from, to]);
      await ask(name, from, 'migrate');
      const state = (await untilDone(name, from, 'Migrate'))?.status?.state;
      await seeds[from].delete(resources.extensions, extensionOf(name));
      await ask(name, to, 'wait-for-state');
      const subresource = { fieldManager, subresource: 'status' as const };
      await seeds[to].mergePatch(resources.extensions, extensionOf(name), { status: { state } }, subresource);
      await ask(name, to, 'restore');
      await untilDone(name, to, 'Restore');
    },
    async setBranch(branch) {
      const metadata = { namespace: PROJECT, name: 'flux-config' };
      const url = 'ssh://git@github.com/org/fleet';
      const data = { repositoryUrl: url, repositoryBranch: branch, repositoryType: 'private', syncMode: 'Reconcile' };
      await create(garden, resources.configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data } as KubeObject);
    },
    untilBranch: async (name, branch) =>
      void (await eventually(
        `branch ${branch} of ${name}`,
        () => branchOf(name),
        (live) => live === branch,
      )),
    async managedResources(name, seed) {
      const { items } = await seeds[seed].list<ManagedResource>(resources.managedResources, {
        namespace: controlPlane(name),
      });
      return Object.fromEntries(items.map(({ metadata }) => [metadata.name, `${metadata.uid} ${metadata.generation}`]));
    },
    async [Symbol.asyncDispose]() {
      for (const stop of stops) await stop();
    },
  };
}

function connectionOf({ url, ca, token }: KubeApi) {
  return { server: url, ca, token };
}

function namespaceOf(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { 'gardener.cloud/role': 'shoot' } } };
}

function kubeconfigOf(name: string, kubeconfig: string): KubeObject {
  const metadata = { name: 'gardener', namespace: controlPlane(name) };
  const data = { kubeconfig: Buffer.from(kubeconfig).toString('base64') };
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data } as KubeObject;
}

function shootOf(name: string, seedName: SeedName): KubeObject {
  return {
    apiVersion: 'core.gardener.cloud/v1beta1',
    kind: 'Shoot',
    metadata: { name, namespace: PROJECT },
    spec: {
      kubernetes: { version: '1.34.2' },
      region: 'here',
      provider: { type: 'local' },
      extensions: [{ type: 'shoot-flux' }],
      seedName,
    },
    status: { technicalID: controlPlane(name), seedName, uid: name, clusterIdentity: `${controlPlane(name)}-garden` },
  } as KubeObject;
}

function clusterOf(name: string, shoot: KubeObject): KubeObject {
  return {
    apiVersion: 'extensions.gardener.cloud/v1alpha1',
    kind: 'Cluster',
    metadata: { name: controlPlane(name) },
    spec: { shoot, seed: {}, cloudProfile: {} },
  } as KubeObject;
}
