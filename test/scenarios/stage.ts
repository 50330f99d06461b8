import { setTimeout as sleep } from 'node:timers/promises';
import { pauseAfter } from '@shoot-flux/landscape/eventually';
import { gitRepositories, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { notReady } from '@shoot-flux/landscape/gardenlet';
import { type ResourceManager, startResourceManager } from '@shoot-flux/landscape/resource-manager';
import { type Product, type ProductOptions, startProduct } from '../../infra/process/product.ts';
import type { Landscape } from '../../shared/config/types.ts';
import { protection } from '../../shared/flux/install.ts';
import type {
  Cluster,
  Condition,
  Extension,
  ExtensionStatus,
  LastError,
  ManagedResource,
  Shoot,
} from '../../shared/gardener/types.ts';
import { KubeError } from '../../shared/kube/errors.ts';
import type { RequestInfo } from '../../shared/kube/http-client.ts';
import { type KubeObject, type ObjectMeta, type Resource, resources } from '../../shared/kube/resource.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { patientClient } from '../patient-client.ts';
import { secretWith } from '../shoot-secrets.ts';
import { settingsOf } from './context.ts';

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

/** Where Git hosts report pushes. */
export const PUSH_URL = 'https://flux.example.org';

/** Where the control plane of the Shoot runs. */
export interface Home {
  /** Its namespace. */
  controlPlane: string;
  /** The name of its cluster in changes. */
  cluster: string;
  /** Undefined: the Shoot hosts itself. */
  seedName?: string;
}
const onSeed: Home = { controlPlane: CONTROL_PLANE, cluster: SEED, seedName: SEED };

/** The Extension of the Shoot. */
export const EXTENSION = { namespace: CONTROL_PLANE, name: 'shoot-flux' };
export const inFlux = (name: string) => ({ namespace: 'flux-system', name });
export const inControlPlane = (name: string) => ({ namespace: CONTROL_PLANE, name });
export const inProject = (name: string) => ({ namespace: PROJECT, name });

/** A Deployment with one container; `app` names the container, and is the label that selects its Pods. */
export const smallDeployment = (metadata: ObjectMeta, app: string, image: string): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata,
  spec: {
    selector: { matchLabels: { app } },
    template: { metadata: { labels: { app } }, spec: { containers: [{ name: app, image }] } },
  },
});

export const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Values of `flux-config`. */
export const publicRepository = {
  repositoryUrl: 'https://git.example.com/fleet',
  repositoryBranch: 'main',
  repositoryType: 'public',
};
export const privateRepository = {
  repositoryUrl: 'ssh://git@github.com/org/fleet',
  repositoryBranch: 'main',
  repositoryType: 'private',
};

/** A providerConfig with a source and a Kustomization. */
export function providerConfig(parts: Record<string, unknown> = {}, branch = 'main'): Record<string, unknown> {
  return onlyFlux({
    source: { template: { kind: 'GitRepository', spec: { url: 'https://git.example.com/a', ref: { branch } } } },
    kustomization: { template: { spec: { path: './', prune: true } } },
    ...parts,
  });
}

/** A providerConfig without any. */
export const onlyFlux = (parts: Record<string, unknown> = {}): Record<string, unknown> => ({
  ...{ apiVersion: 'flux.extensions.gardener.cloud/v1alpha1', kind: 'FluxConfig' },
  ...parts,
});

/** The components that a source and a Kustomization need. */
export const core = ['source-controller', 'kustomize-controller'];

/** True for an object that the user's Kustomizations skip. */
export const isProtected = ({ metadata }: KubeObject): boolean =>
  Object.keys(protection).some((name) => metadata.annotations?.[name] !== undefined);

/** An entry of the Shoot's `spec.resources`. */
export const reference = (name: string, original: string, kind = 'Secret', apiVersion = 'v1') => ({
  name,
  resourceRef: { apiVersion, kind, name: original },
});

/** A Shoot that Gardener has hibernated. */
export const asleep: ShootParts = { spec: { hibernation: { enabled: true } }, status: { hibernated: true } };

const extensionKind = { apiVersion: 'extensions.gardener.cloud/v1alpha1', kind: 'Extension' };
const fieldManager = 'stage';

export type Stage = Awaited<ReturnType<typeof startStage>>;

/** One project with one Shoot, a resource-manager, and the product in this process. */
export async function startStage(apis: Apis, fluxDistribution: string, home = onSeed) {
  const extensionName = { namespace: home.controlPlane, name: 'shoot-flux' };
  const clientOf = ({ url, ca, token }: Api) => patientClient({ server: url, ca, token }, { userAgent: 'stage' });
  const garden = clientOf(apis.garden);
  const seed = clientOf(apis.seed);
  const shoot = clientOf(apis.shoot);
  const connection = ({ url, ca, token }: Api) => ({ server: url, ca, token });
  await garden.apply(resources.namespaces, namespace(PROJECT), { fieldManager });
  await seed.apply(resources.namespaces, namespace(home.controlPlane, { 'gardener.cloud/role': 'shoot' }), {
    fieldManager,
  });
  if (home.seedName !== undefined) {
    const access = secretWith(home.controlPlane, 'gardener', { kubeconfig: apis.shoot.kubeconfig() });
    await seed.apply(resources.secrets, access, { fieldManager });
  }
  let resourceManager: ResourceManager | undefined;
  /** @param targetNamespaces into which it may write */
  const runResourceManager = async (targetNamespaces = ['kube-system', 'flux-system', 'elsewhere']) => {
    resourceManager = await startResourceManager({
      source: connection(apis.seed),
      target: connection(apis.shoot),
      targetNamespaces,
      pendingMs: 200,
    });
  };
  await runResourceManager();

  /** Every log line of the product. */
  const logLines: string[] = [];
  const requests: SeenRequest[] = [];
  let product: Product | undefined;
  let landscape: Landscape = {};
  const stopProduct = async () => {
    await product?.stop();
    product = undefined;
  };
  /** As Gardener does before it hibernates the Shoot. */
  const stopResourceManager = async () => {
    await resourceManager?.stop();
    resourceManager = undefined;
  };
  /** gardenlet writes only the Cluster. */
  const writeCluster = async (parts: ShootParts = {}) => {
    const cluster = clusterOf(parts, home);
    const { deletionTimestamp: _, ...metadata } = cluster.spec.shoot.metadata;
    await garden.apply(resources.shoots, { ...cluster.spec.shoot, metadata } as KubeObject, { fieldManager });
    await seed.apply(resources.clusters, cluster, { fieldManager });
  };
  const extension = async (): Promise<Extension> => {
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

  /** How the product is started. */
  const productOptions = (): ProductOptions => ({
    credentials: (identity) => async (cluster) => {
      const api = cluster === 'garden' ? apis.garden : apis.seed;
      const server = api.productUrl ?? api.url;
      return { ...connection(api), server, token: api.tokenOf?.(identity) ?? api.token };
    },
    settings: settingsOf({
      ...{ landscape: 'stage', seeds: [home.cluster], fluxDistribution, pushUrl: PUSH_URL },
      ...landscape,
    }),
    log: createLog('debug', (line) => logLines.push(line)),
    port: 0,
    onRequest: (identity, cluster, info) => requests.push({ identity, cluster, ...info }),
  });
  const start = async () => {
    product = await startProduct(productOptions());
    return product;
  };

  /** Requests to the shoot are not seen, and may be slow: the queues say whether a run makes some. */
  const isRunning = async () => {
    if (product === undefined) return false;
    const answer = await fetch(`http://127.0.0.1:${product.port}/metrics`);
    return /queue_keys\{.*state="(running|waiting)"\} [1-9]/.test(await answer.text());
  };

  /** The Events in the project. @param reason only those with it */
  const events = async (reason?: string) => {
    const { items } = await garden.list(resources.events, { namespace: PROJECT });
    return items.filter((event) => reason === undefined || event.reason === reason);
  };
  const managedResources = async () => {
    const { items } = await seed.list<ManagedResource>(resources.managedResources, { namespace: home.controlPlane });
    return Object.fromEntries(items.map((item) => [item.metadata.name, item]));
  };
  const notReadyYet = (live: Extension) =>
    notReady(live, live.metadata.annotations?.['gardener.cloud/timestamp'] ?? '');
  /** Waits by gardenlet's seven readiness rules (rule 1.5). */
  const untilReady = () =>
    eventually(
      'the Extension is ready for gardenlet',
      extension,
      (live) => notReadyYet(live) === undefined,
      notReadyYet,
    );
  /** Waits until the status of the Extension is as wanted. */
  const until = (what: string, isWanted: (status: ExtensionStatus) => boolean) =>
    eventually(
      what,
      extension,
      ({ status = {} }) => isWanted(status),
      ({ metadata, status }) => ({ metadata, status }),
    );
  const untilGone = async () =>
    void (await eventually(
      'the Extension is gone',
      () => seed.find<Extension>(resources.extensions, extensionName),
      (live) => live === undefined,
      (live) => live?.status,
    ));
  /** Changes the Extension as gardenlet does. */
  const patchExtension = (patch: object) =>
    seed.mergePatch<Extension>(resources.extensions, extensionName, patch, { fieldManager });
  /** Writes the status of the Extension as other controllers do. */
  const patchStatus = (status: object) => {
    const options = { fieldManager, subresource: 'status' } as const;
    return seed.mergePatch<Extension>(resources.extensions, extensionName, { status }, options);
  };
  /** gardenlet asks for an operation. @param timestamp of the request; by default now */
  const operate = (operation: string, timestamp = new Date().toISOString()) => {
    const annotations = { 'gardener.cloud/operation': operation, 'gardener.cloud/timestamp': timestamp };
    return patchExtension({ metadata: { annotations } });
  };
  /** gardenlet deletes the Extension. */
  const deleteExtension = async () => void (await seed.delete(resources.extensions, extensionName));
  /** Finds an object in the namespace `flux-system` of the shoot. */
  const inShoot = <T extends KubeObject = KubeObject>(resource: Resource, name: string) =>
    shoot.find<T>(resource, inFlux(name));
  /** Waits until an object in `flux-system` is as wanted. Default: it exists. */
  const untilInShoot = (
    resource: Resource,
    name: string,
    isWanted: (live: KubeObject | undefined) => boolean = (live) => live !== undefined,
  ) => eventually(`${resource.kind} ${name} in the shoot`, () => inShoot(resource, name), isWanted);
  /** Marks objects in the shoot as Ready, as Flux would. */
  const markReady = async (...objects: [Resource, string][]) => {
    for (const [resource, name] of objects) {
      const live = await untilInShoot(resource, name);
      const status = readyStatus(live?.metadata.generation ?? 1);
      await shoot.mergePatch(resource, inFlux(name), { status }, { fieldManager, subresource: 'status' });
    }
  };
  /** Does what gardenlet does in each reconciliation of the Shoot: writes Cluster, Extension, annotation, timestamp. */
  const reconcileShoot = async (parts: ShootParts = {}) => {
    await writeCluster(parts);
    const annotations = { 'gardener.cloud/operation': 'reconcile', 'gardener.cloud/timestamp': nextTimestamp() };
    const { providerConfig: config } = parts;
    const spec = { type: 'shoot-flux', ...(config === undefined ? {} : { providerConfig: config }) };
    const object = { ...extensionKind, metadata: { ...extensionName, annotations }, spec };
    await seed.apply(resources.extensions, object, { fieldManager });
  };

  return {
    garden,
    seed,
    shoot,
    logLines,
    requests,
    startProduct: start,
    productOptions,
    /** Starts the product again, with other defaults and another policy. */
    async setLandscape(next: Landscape) {
      landscape = next;
      await stopProduct();
      await start();
    },
    stopProduct,
    stopResourceManager,
    startResourceManager: runResourceManager,
    deleteExtension,
    /** Writes the ConfigMap `flux-config`; undefined deletes it. */
    async setFluxConfig(data: Record<string, string> | undefined) {
      const name = { namespace: PROJECT, name: 'flux-config' };
      if (data === undefined) await garden.delete(resources.configMaps, name);
      else
        await garden.apply(
          resources.configMaps,
          { apiVersion: 'v1', kind: 'ConfigMap', metadata: name, data },
          { fieldManager },
        );
    },
    annotateFluxConfig: (annotations: Record<string, string>) =>
      garden.mergePatch(
        resources.configMaps,
        inProject('flux-config'),
        { metadata: { annotations } },
        { fieldManager },
      ),
    writeCluster,
    reconcileShoot,
    extension,
    managedResources,
    untilReady,
    /** Reconciles the Shoot, and waits until it is ready. */
    async deliver(parts?: ShootParts) {
      await reconcileShoot(parts);
      return untilReady();
    },
    until,
    /** Waits until the last operation is described with these words. */
    untilDescribed: (words: string) =>
      until(`"${words}"`, ({ lastOperation }) => lastOperation?.description.includes(words) === true),
    events,
    /**
     * Waits for an Event with this reason and these words; returns all with the reason. Needed for an Event of another
     * function than the one whose result a test has seen: the two run at the same time.
     */
    untilEvent: (reason: string, words = '') =>
      eventually(
        `an Event ${reason} with "${words}"`,
        () => events(reason),
        (found) => found.some(({ message }) => String(message).includes(words)),
      ),
    /** Waits until an error with these words is reported. */
    async untilError(words = '') {
      const { status } = await until(
        `an error with "${words}"`,
        ({ lastError }) => lastError?.description.includes(words) === true,
      );
      return status?.lastError as LastError;
    },
    /** Waits until a condition of this type with these words is published. */
    async untilCondition(type: string, words = '') {
      const isWanted = (one: Condition) => one.type === type && one.message.includes(words);
      const { status } = await until(
        `${type} with "${words}"`,
        ({ conditions }) => conditions?.some(isWanted) === true,
      );
      return status?.conditions?.find(isWanted) as Condition;
    },
    untilGone,
    /** The extension is removed: gardenlet deletes the Extension, and waits until it is gone. */
    async leave() {
      await deleteExtension();
      await untilGone();
    },
    /** Waits until these ManagedResources exist, and no others. */
    untilManagedResources: async (...names: string[]) =>
      void (await eventually(
        'the ManagedResources',
        async () => Object.keys(await managedResources()).sort(),
        (live) => live.join() === names.toSorted().join(),
      )),
    operate,
    /** gardenlet empties this seed. @returns what it keeps for the next seed */
    async moveAway() {
      await operate('migrate');
      const record = await eventually('it is migrated', extension, isMigrated);
      await deleteExtension();
      await untilGone();
      return record;
    },
    /** gardenlet creates the Extension on the other seed, where it waits for its state. */
    createWaiting(config?: unknown) {
      const annotations = {
        'gardener.cloud/operation': 'wait-for-state',
        'gardener.cloud/timestamp': new Date().toISOString(),
      };
      const spec = { type: 'shoot-flux', ...(config === undefined ? {} : { providerConfig: config }) };
      const object = { ...extensionKind, metadata: { ...extensionName, annotations }, spec };
      return seed.create<Extension>(resources.extensions, object, { fieldManager });
    },
    /** gardenlet restores what it has kept. */
    async restore({ status }: Extension) {
      await patchStatus({ state: status?.state, resources: status?.resources });
      await operate('restore');
    },
    /** Creates or changes a Secret with these texts. */
    putSecret: (
      cluster: 'garden' | 'seed' | 'shoot',
      { namespace, name }: { namespace: string; name: string },
      texts: Record<string, string>,
      more: object = {},
    ) => {
      const secret = { ...secretWith(namespace, name, texts), ...more };
      return { garden, seed, shoot }[cluster].apply(resources.secrets, secret, { fieldManager: 'person' });
    },
    patchExtension,
    patchStatus,
    inShoot,
    untilInShoot,
    specInShoot: async (resource: Resource, name: string) =>
      (await inShoot(resource, name))?.spec as Record<string, unknown> | undefined,
    /** Waits until the source reads the branch. */
    untilBranch: async (branch: string, source = 'main-gitrepo') =>
      void (await untilInShoot(gitRepositories, source, (live) => branchOf(live) === branch)),
    markReady,
    /** Source and root Kustomization become Ready; waits for the first success. */
    async bootstrap() {
      const { source, kustomization } = (await extension()).status?.state?.applied ?? {};
      if (source !== undefined) await markReady([gitRepositories, source.name]);
      if (kustomization !== undefined) await markReady([kustomizations, kustomization.name]);
      return until('the first success', ({ state }) => state?.bootstrapped !== undefined);
    },
    /** Waits until the product has made no request for a while (its watches aside), and no run is under way. */
    async quiet() {
      let before = -1;
      const isQuiet = async () => {
        const count = requests.length;
        await new Promise((resolve) => setTimeout(resolve, 600));
        const isUnchanged = count === before && requests.length === count && !(await isRunning());
        before = requests.length;
        return isUnchanged;
      };
      await eventually('the product is quiet', isQuiet, (answer) => answer);
    },
    async [Symbol.asyncDispose]() {
      await stopProduct();
      await stopResourceManager();
      for (const client of [garden, seed, shoot]) client.close();
    },
  };
}

/** True once a migration has ended. */
export const isMigrated = ({ metadata, status }: Extension) =>
  status?.lastOperation?.type === 'Migrate' &&
  status.lastOperation.state === 'Succeeded' &&
  metadata.annotations?.['gardener.cloud/operation'] === undefined;

/** The branch that a GitRepository reads. */
export const branchOf = (source: KubeObject | undefined) =>
  (source?.spec as { ref?: { branch?: string } } | undefined)?.ref?.branch;

/**
 * Polls until the condition holds; the error shows the last value.
 * @param seconds default: enough for SQS to give a message again after a kill
 */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T>,
  isWanted: (answer: T) => boolean,
  describe: (answer: T) => unknown = (answer) => answer,
  seconds = 240,
): Promise<T> {
  // hrtime, unlike Date, stays real time when a test speeds up its clock.
  const started = process.hrtime();
  for (let looks = 1; ; looks++) {
    const isOver = process.hrtime(started)[0] >= seconds;
    let answer: T;
    try {
      answer = await ask();
    } catch (error) {
      if (isOver || !isStarting(error)) throw error;
      await sleep(pauseAfter(looks));
      continue;
    }
    if (isWanted(answer)) return answer;
    if (isOver)
      throw new Error(`${what}: not after ${seconds} s; last seen: ${JSON.stringify(describe(answer), null, 2)}`);
    await sleep(pauseAfter(looks));
  }
}

/** While an API server starts to serve a kind whose CRD has just been written, it answers 429. */
const isStarting = (error: unknown) => error instanceof KubeError && error.status === 429;

/** Waits for a line of the log with all of these parts: it is written after what it reports, which a test may see first. */
export async function untilLogged({ logLines }: Pick<Stage, 'logLines'>, ...parts: string[]): Promise<void> {
  const isLogged = () => logLines.some((line) => parts.every((part) => line.includes(part)));
  await eventually(`a line of the log with ${parts.join(' and ')}`, async () => logLines, isLogged);
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

/** The Cluster of the Shoot. */
export function clusterOf({ spec, status, metadata }: ShootParts, home = onSeed): Cluster {
  const { controlPlane, seedName } = home;
  const shoot = {
    apiVersion: 'core.gardener.cloud/v1beta1',
    kind: 'Shoot',
    metadata: { name: 'bar', namespace: PROJECT, ...metadata },
    spec: {
      kubernetes: { version: '1.34.2' },
      region: 'here',
      provider: { type: 'local', ...(seedName === undefined && { workers: [{ name: 'own', controlPlane: {} }] }) },
      extensions: [{ type: 'shoot-flux' }],
      ...spec,
    },
    status: {
      technicalID: controlPlane,
      ...(seedName !== undefined && { seedName }),
      uid: 'u',
      clusterIdentity: `${controlPlane}-u-garden`,
      ...status,
    },
  };
  return {
    apiVersion: 'extensions.gardener.cloud/v1alpha1',
    kind: 'Cluster',
    metadata: { name: controlPlane },
    spec: { shoot, ...(seedName !== undefined && { seed: {} }), cloudProfile: {} },
  } as unknown as Cluster;
}
