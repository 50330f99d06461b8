import { setTimeout as sleep } from 'node:timers/promises';
import { type ResourceManager, startResourceManager } from '@shoot-flux/landscape/resource-manager';
import { type Product, type ProductOptions, startProduct } from '../../infra/process/product.ts';
import type { Landscape } from '../../shared/config/types.ts';
import type { Cluster, Extension, ManagedResource, Shoot } from '../../shared/gardener/types.ts';
import { createKubeClient, type HttpKubeClient, type RequestInfo } from '../../shared/kube/http-client.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { createLog } from '../../shared/runtime/log.ts';

/** An API server, embedded or real, with its administrator's client. */
export interface Api {
  url: string;
  /** Where the product reaches it. Default: `url`. */
  productUrl?: string;
  ca: string;
  token: string;
  /** Returns the token of the watcher or a function, where each has only its own rights. Default: the administrator's. */
  tokenOf?(identity: string): string;
  kubeconfig(): string;
}

/** The three API servers of a stage. The seed has Gardener's CRDs, the garden those of Shoots and Projects. */
export interface Apis {
  garden: Api;
  seed: Api;
  shoot: Api;
  stop(): Promise<void>;
}

/** One request of the product, with the status of its response. */
export interface SeenRequest extends RequestInfo {
  identity: string;
  cluster: string;
}

/** One project with one Shoot, a resource-manager, and the product in this process. */
export interface Stage extends AsyncDisposable {
  garden: HttpKubeClient;
  seed: HttpKubeClient;
  shoot: HttpKubeClient;
  /** Every log line of the product. */
  logLines: string[];
  requests: SeenRequest[];
  startProduct(): Promise<Product>;
  /** How the product is started. */
  productOptions(): ProductOptions;
  stopProduct(): Promise<void>;
  /** Starts the product again, with other defaults and another policy. */
  setLandscape(landscape: Landscape): Promise<void>;
  /** As Gardener does before it hibernates the Shoot. */
  stopResourceManager(): Promise<void>;
  /** @param targetNamespaces into which it may write */
  startResourceManager(targetNamespaces?: string[]): Promise<void>;
  /** gardenlet deletes the Extension. */
  deleteExtension(): Promise<void>;
  /** Writes the ConfigMap `flux-config`; undefined deletes it. */
  setFluxConfig(data: Record<string, string> | undefined): Promise<void>;
  /** gardenlet writes only the Cluster. */
  writeCluster(parts?: ShootParts): Promise<void>;
  /** Does what gardenlet does in each reconciliation of the Shoot: writes Cluster, Extension, annotation, timestamp. */
  reconcileShoot(parts?: ShootParts): Promise<void>;
  extension(): Promise<Extension>;
  managedResources(): Promise<Record<string, ManagedResource>>;
  /** Waits by gardenlet's seven readiness rules (rule 1.5). @param seconds limit; 60 by default */
  untilReady(seconds?: number): Promise<Extension>;
  /** Marks source and root Kustomization in the shoot as Ready, as Flux would. */
  markReady(...objects: [Resource, string][]): Promise<void>;
}

export interface ShootParts {
  providerConfig?: unknown;
  spec?: Partial<NonNullable<Shoot['spec']>>;
  status?: Partial<NonNullable<Shoot['status']>>;
  metadata?: Partial<Shoot['metadata']>;
}

export const PROJECT = 'garden-foo';
export const CONTROL_PLANE = 'shoot--foo--bar';
export const SEED = 'local';

/** `lastOperation` of a Shoot that is being created. */
export const creating = {
  type: 'Create',
  state: 'Processing',
  progress: 50,
  description: 'going on',
  lastUpdateTime: '2026-01-02T03:04:05Z',
} as const;

const fieldManager = 'stage';
const extensionName = { namespace: CONTROL_PLANE, name: 'shoot-flux' };

export async function startStage(apis: Apis, fluxDistribution: string): Promise<Stage> {
  // The embedded server takes seconds to merge half a million values, longer than the product would wait.
  const clientOf = ({ url, ca, token }: Api) =>
    createKubeClient({ server: url, ca, token }, { userAgent: 'stage', timeoutMs: 60_000 });
  const garden = clientOf(apis.garden);
  const seed = clientOf(apis.seed);
  const shoot = clientOf(apis.shoot);
  const connection = ({ url, ca, token }: Api) => ({ server: url, ca, token });
  await garden.apply(resources.namespaces, namespace(PROJECT), { fieldManager });
  await seed.apply(resources.namespaces, namespace(CONTROL_PLANE, { 'gardener.cloud/role': 'shoot' }), {
    fieldManager,
  });
  await seed.apply(resources.secrets, kubeconfigSecret(apis.shoot.kubeconfig()), { fieldManager });
  let resourceManager: ResourceManager | undefined;
  const runResourceManager = async (targetNamespaces = ['kube-system', 'flux-system', 'elsewhere']) => {
    resourceManager = await startResourceManager({
      source: connection(apis.seed),
      target: connection(apis.shoot),
      targetNamespaces,
      pendingMs: 200,
    });
  };
  await runResourceManager();

  const logLines: string[] = [];
  const requests: SeenRequest[] = [];
  let product: Product | undefined;
  let landscape: Landscape = {};
  const stopProduct = async () => {
    await product?.stop();
    product = undefined;
  };
  const stopResourceManager = async () => {
    await resourceManager?.stop();
    resourceManager = undefined;
  };
  const writeCluster = async (parts: ShootParts = {}) => {
    const cluster = clusterOf(parts);
    const { deletionTimestamp: _, ...metadata } = cluster.spec.shoot.metadata;
    await garden.apply(resources.shoots, { ...cluster.spec.shoot, metadata } as KubeObject, { fieldManager });
    await seed.apply(resources.clusters, cluster, { fieldManager });
  };
  const extension = async () => {
    const live = await seed.find<Extension>(resources.extensions, extensionName);
    if (live === undefined) throw new Error('the Extension is not there');
    return live;
  };

  // One second each, because gardenlet compares seconds: the end of one operation must not satisfy the next.
  let asked = 0;
  const nextTimestamp = () => {
    asked = Math.max(Date.now(), asked + 1000);
    return new Date(asked).toISOString();
  };

  const productOptions = (): ProductOptions => ({
    credentials: (identity) => async (cluster) => {
      const api = cluster === 'garden' ? apis.garden : apis.seed;
      const server = api.productUrl ?? api.url;
      return { ...connection(api), server, token: api.tokenOf?.(identity) ?? api.token };
    },
    settings: {
      landscape: 'stage',
      seeds: [SEED],
      fluxDistribution,
      shootHealth: false,
      shootAccess: 'external',
      ...landscape,
    },
    log: createLog('debug', (line) => logLines.push(line)),
    port: 0,
    onRequest: (identity, cluster, info) => requests.push({ identity, cluster, ...info }),
  });
  const start = async () => {
    product = await startProduct(productOptions());
    return product;
  };

  return {
    garden,
    seed,
    shoot,
    logLines,
    requests,
    startProduct: start,
    productOptions,
    async setLandscape(next) {
      landscape = next;
      await stopProduct();
      await start();
    },
    stopProduct,
    stopResourceManager,
    startResourceManager: runResourceManager,
    deleteExtension: async () => void (await seed.delete(resources.extensions, extensionName)),
    async setFluxConfig(data) {
      const name = { namespace: PROJECT, name: 'flux-config' };
      if (data === undefined) await garden.delete(resources.configMaps, name);
      else
        await garden.apply(
          resources.configMaps,
          { apiVersion: 'v1', kind: 'ConfigMap', metadata: name, data },
          { fieldManager },
        );
    },
    writeCluster,
    async reconcileShoot(parts = {}) {
      await writeCluster(parts);
      const annotations = {
        'gardener.cloud/operation': 'reconcile',
        'gardener.cloud/timestamp': nextTimestamp(),
      };
      const { providerConfig } = parts;
      const spec = { type: 'shoot-flux', ...(providerConfig === undefined ? {} : { providerConfig }) };
      const object = { apiVersion: 'extensions.gardener.cloud/v1alpha1', kind: 'Extension', spec };
      await seed.apply(
        resources.extensions,
        { ...object, metadata: { ...extensionName, annotations } },
        { fieldManager },
      );
    },
    extension,
    async managedResources() {
      const { items } = await seed.list<ManagedResource>(resources.managedResources, { namespace: CONTROL_PLANE });
      return Object.fromEntries(items.map((item) => [item.metadata.name, item]));
    },
    untilReady: (seconds) =>
      eventually(
        'the Extension is ready for gardenlet',
        extension,
        (live) => notReady(live) === undefined,
        notReady,
        seconds,
      ),
    async markReady(...objects) {
      for (const [resource, name] of objects) {
        const object = { namespace: 'flux-system', name };
        const live = await eventually(
          `${resource.kind} ${name} is in the shoot`,
          () => shoot.find(resource, object),
          (found) => found !== undefined,
        );
        const status = readyStatus(live?.metadata.generation ?? 1);
        await shoot.mergePatch(resource, object, { status }, { fieldManager, subresource: 'status' });
      }
    },
    async [Symbol.asyncDispose]() {
      await stopProduct();
      await stopResourceManager();
      for (const client of [garden, seed, shoot]) client.close();
    },
  };
}

/** Polls until the condition holds; the error shows the last value. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T>,
  isWanted: (answer: T) => boolean,
  describe: (answer: T) => unknown = (answer) => answer,
  seconds = 60,
): Promise<T> {
  // hrtime, unlike Date, stays real time when a test speeds up its clock.
  const started = process.hrtime();
  for (;;) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
    if (process.hrtime(started)[0] >= seconds)
      throw new Error(`${what}: not after ${seconds} s; last seen: ${JSON.stringify(describe(answer), null, 2)}`);
    await sleep(25);
  }
}

/** Waits for a line of the log with all of these parts: it is written after what it reports, which a test may see first. */
export async function untilLogged({ logLines }: Pick<Stage, 'logLines'>, ...parts: string[]): Promise<void> {
  const isLogged = () => logLines.some((line) => parts.every((part) => line.includes(part)));
  await eventually(`a line of the log with ${parts.join(' and ')}`, async () => logLines, isLogged);
}

/** Returns the first of gardenlet's rules that does not hold. */
function notReady({ metadata, status }: Extension): string | undefined {
  const timestamp = metadata.annotations?.['gardener.cloud/timestamp'] ?? '';
  const last = status?.lastOperation;
  if (status?.lastError) return `lastError: ${status.lastError.description}`;
  if (status?.observedGeneration !== metadata.generation) return 'observedGeneration is not the generation';
  if (metadata.annotations?.['gardener.cloud/operation'] !== undefined)
    return 'the operation annotation is still there';
  if (last === undefined) return 'there is no lastOperation';
  if (last.state !== 'Succeeded') return `lastOperation is ${last.state}: ${last.description}`;
  if (Math.floor(Date.parse(timestamp) / 1000) > Math.floor(Date.parse(last.lastUpdateTime) / 1000))
    return 'lastUpdateTime is before the timestamp';
  return undefined;
}

function readyStatus(observedGeneration: number): Record<string, unknown> {
  const lastTransitionTime = '2026-01-02T03:04:05Z';
  return {
    observedGeneration,
    conditions: [
      { type: 'Ready', status: 'True', reason: 'Succeeded', message: 'stored', lastTransitionTime, observedGeneration },
    ],
  };
}

function namespace(name: string, labels: Record<string, string> = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
}

function kubeconfigSecret(kubeconfig: string): KubeObject {
  const data = { kubeconfig: Buffer.from(kubeconfig).toString('base64') };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'gardener', namespace: CONTROL_PLANE },
    type: 'Opaque',
    data,
  };
}

function clusterOf({ spec, status, metadata }: ShootParts): Cluster {
  const shoot = {
    apiVersion: 'core.gardener.cloud/v1beta1',
    kind: 'Shoot',
    metadata: { name: 'bar', namespace: PROJECT, ...metadata },
    spec: {
      kubernetes: { version: '1.34.2' },
      region: 'here',
      provider: { type: 'local' },
      extensions: [{ type: 'shoot-flux' }],
      ...spec,
    },
    status: {
      technicalID: CONTROL_PLANE,
      seedName: SEED,
      uid: 'u',
      clusterIdentity: `${CONTROL_PLANE}-u-garden`,
      ...status,
    },
  };
  return {
    apiVersion: 'extensions.gardener.cloud/v1alpha1',
    kind: 'Cluster',
    metadata: { name: CONTROL_PLANE },
    spec: { shoot, seed: {}, cloudProfile: {} },
  } as unknown as Cluster;
}
