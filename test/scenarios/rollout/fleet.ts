import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { type JsonObject, type KubeApi, startKubeApi } from '@shoot-flux/landscape/kube-api';
import { handler as managedResources } from '../../../functions/managed-resources/handler.ts';
import { definition } from '../../../functions/project-status/function.ts';
import { handler as projectStatus } from '../../../functions/project-status/handler.ts';
import { applyState, managedResourceNames } from '../../../shared/gardener/managed-resource.ts';
import { unpackContent } from '../../../shared/gardener/managed-resource-content.ts';
import { clusterFactory, conditionFactory, extensionFactory } from '../../../shared/gardener/testing.ts';
import type { Condition, Extension, ManagedResource, Shoot } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { createKubeClient, type RequestInfo } from '../../../shared/kube/http-client.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import type { RolloutState } from '../../../shared/rollout/state.ts';
import { readState } from '../../../shared/rollout/text.ts';
import { createLog } from '../../../shared/runtime/log.ts';
import { noMetrics } from '../../../shared/runtime/metrics.ts';
import { type Place, shippedIdentities, shippedRbac, tokenOf } from '../identities.ts';

export const PROJECT = 'garden-foo';
const CONFIG = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: PROJECT, name: 'flux-config' } };
const STATUS = { ...CONFIG, metadata: { namespace: PROJECT, name: 'flux-status' } };

/** What Flux in a shoot makes of an edit. `silent`: nothing is heard of it. */
export type Verdict = 'ready' | 'bad' | 'silent';

export interface FleetOptions {
  shoots: string[];
  /** Names of seeds; each has a shoot-flux of its own. Shoots are spread over them. Default: one. */
  seeds?: string[];
  labels?: (shoot: string) => Record<string, string>;
  spec?: Shoot['spec'];
  /** How many runs happen at the same time. Default 4. */
  parallel?: number;
}

/** The Shoots of a project with the two functions of a rollout, on a simulated clock. Everything else is a stand-in. */
export interface Fleet extends AsyncDisposable {
  now: number;
  /** What Flux makes of the configuration with this branch. */
  verdict: (shoot: string, branch: string) => Verdict;
  /** Requests of the functions since it was cleared. */
  requests: RequestInfo[];
  logLines: string[];
  /** What runs have thrown. */
  failures: unknown[];
  /** Replaces the client of a run, for example by one that dies. */
  wrap: (client: KubeClient, run: string) => KubeClient;
  /** All runs end as in a kill of the process, which then starts again: everything is looked at once. */
  restart(): void;
  /** Called after each round of runs, and with each change of the status. */
  observe: () => void;
  edit(data: Record<string, string>, annotations?: Record<string, string>): void;
  /** A run for the Shoot, as after an event. */
  wake(shoot: string): void;
  /** As in the garden: a label, a deletion, hibernation. */
  shoot(name: string, parts: Partial<Shoot>): void;
  /** Runs everything that is due, until nothing is left within so many seconds. */
  settle(seconds?: number): Promise<void>;
  /** The branch that a Shoot has. */
  branches(): Map<string, string>;
  /** Shoots that have a branch and no verdict about it. */
  unjudged(branch: string): string[];
  extension(shoot: string): Extension;
  status(): Record<string, string>;
  state(): RolloutState | undefined;
  /** That of an administrator of the garden. */
  kubeconfig(): string;
  /** Schedules what an edit of the annotations of `flux-config` would cause. */
  follow(): void;
  setStatus(data: Record<string, string> | undefined): void;
  /** Creates a flux-status that is not ours. */
  foreignStatus(data: Record<string, string>): void;
}

export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { shoots, seeds: names = ['one'], labels = () => ({}), spec = {}, parallel = 4 } = options;
  const garden = await startApi('garden');
  const seeds = new Map(await Promise.all(names.map(async (name) => [name, await startApi('seed')] as const)));
  const seedOf = (shoot: string) => names[shoots.indexOf(shoot) % names.length] as string;
  const seed = (shoot: string) => seeds.get(seedOf(shoot)) as KubeApi;
  const requests: RequestInfo[] = [];
  const clientOf = ({ url, ca }: KubeApi, identity: string) =>
    createKubeClient(
      { server: url, ca, token: tokenOf(identity) },
      { timeoutMs: 60_000, onRequest: (info) => requests.push(info) },
    );
  const handlers = { 'managed-resources': managedResources, 'project-status': projectStatus };
  type Name = keyof typeof handlers;
  const clients = new Map<string, ReturnType<typeof createKubeClient>>();
  for (const identity of Object.keys(handlers)) {
    clients.set(`garden ${identity}`, clientOf(garden, identity));
    for (const [name, api] of seeds) clients.set(`${name} ${identity}`, clientOf(api, identity));
  }

  const failures: unknown[] = [];
  /** When each function runs next for a Shoot. */
  const due = new Map<string, number>();
  const schedule = (name: Name, shoot: string, at: number) => {
    const key = `${name} ${shoot}`;
    due.set(key, Math.min(due.get(key) ?? Number.POSITIVE_INFINITY, at));
  };
  const news = new Map<string, string>();
  /** Shoots without a verdict, with their branch. */
  const open = new Map<string, string>();

  const fleet: Fleet = {
    now: Date.parse('2026-01-02T03:00:00Z') / 1000,
    verdict: () => 'ready',
    requests,
    logLines: [],
    failures,
    wrap: (client) => client,
    observe: () => {},
    restart() {
      due.clear();
      for (const shoot of shoots) {
        schedule('managed-resources', shoot, fleet.now + 1);
        schedule('project-status', shoot, fleet.now + 1);
      }
    },
    edit(data, annotations = {}) {
      const { metadata } = CONFIG;
      garden.objects.apply({ ...CONFIG, metadata: { ...metadata, annotations }, data } as never);
      for (const shoot of shoots) schedule('managed-resources', shoot, fleet.now);
    },
    wake: (shoot) => schedule('managed-resources', shoot, fleet.now),
    shoot(name, parts) {
      const namespace = technicalId(name);
      const status = { technicalID: namespace, seedName: seedOf(name), ...parts.status };
      const { metadata } = parts;
      const shoot = {
        metadata: { labels: labels(name), ...metadata, name, namespace: PROJECT },
        spec: { seedName: seedOf(name), ...spec, ...parts.spec },
        status,
      };
      garden.objects.apply({ apiVersion: 'core.gardener.cloud/v1beta1', kind: 'Shoot', ...shoot } as never);
      const cluster = clusterFactory({ ...shoot, metadata: { ...shoot.metadata, uid: `uid-${name}` } });
      seed(name).objects.apply({
        ...cluster,
        metadata: { name: namespace },
        spec: { ...cluster.spec, seed: {}, cloudProfile: {} },
      } as never);
      schedule('managed-resources', name, fleet.now);
    },
    async settle(seconds = 50) {
      for (let rounds = 0; rounds < 20_000; rounds++) {
        const next = Math.min(...due.values());
        if (next > fleet.now + seconds) return;
        fleet.now = Math.max(fleet.now, next);
        const keys = [...due].filter(([, at]) => at <= fleet.now).slice(0, parallel);
        for (const [key] of keys) due.delete(key);
        await Promise.all(keys.map(([key]) => run(...(key.split(' ') as [Name, string]))));
        fleet.observe();
      }
      throw new Error('the fleet does not come to rest');
    },
    branches: () => new Map(shoots.map((shoot) => [shoot, branchOf(shoot)])),
    unjudged: (branch) =>
      shoots.filter((shoot) => {
        const { applied } = fleet.extension(shoot).status?.state ?? {};
        const verdict = fleet
          .extension(shoot)
          .status?.conditions?.some(({ message }) => message.endsWith(`(config ${applied?.configHash})`));
        return branchOf(shoot) === branch && verdict !== true;
      }),
    extension: (shoot) => seed(shoot).objects.get(extensionName(shoot)) as unknown as Extension,
    status: () => (garden.objects.find(STATUS) as { data?: Record<string, string> } | undefined)?.data ?? {},
    state: () => readState(fleet.status().RolloutState),
    kubeconfig: () => garden.kubeconfig(),
    follow() {
      for (const shoot of shoots) schedule('managed-resources', shoot, fleet.now);
    },
    setStatus(data) {
      if (data === undefined) garden.objects.delete(STATUS);
      else garden.objects.patch(STATUS, { data });
    },
    foreignStatus: (data) => void garden.objects.create({ ...STATUS, data } as never),
    async [Symbol.asyncDispose]() {
      for (const client of clients.values()) client.close();
      await Promise.all([garden, ...seeds.values()].map((api) => api.stop()));
    },
  };

  const run = async (name: Name, shoot: string) => {
    const cluster = seedOf(shoot);
    try {
      const outcome = await handlers[name](
        { cluster, namespace: technicalId(shoot), name: 'shoot-flux' },
        {
          kube: async (of) => fleet.wrap(clients.get(`${of} ${name}`) as KubeClient, `${name} ${shoot}`),
          settings: {
            ...{ landscape: 'test', seeds: [cluster], fluxDistribution: standInDistribution.folder },
            ...{ shootHealth: false, delivery: 'ManagedResource', shootAccess: 'external' },
          },
          send: async (changes) => {
            for (const { key } of changes) {
              const sent = shoots.find((one) => technicalId(one) === key.namespace);
              if (sent !== undefined) schedule('managed-resources', sent, fleet.now);
            }
          },
          causes: [],
          now: () => new Date(fleet.now * 1000),
          log: createLog('error', (line) => fleet.logLines.push(line)),
          metrics: noMetrics,
          signal: AbortSignal.timeout(60_000),
        },
      );
      if (outcome.type === 'requeue') schedule(name, shoot, fleet.now + outcome.afterSeconds);
    } catch (error) {
      // As the queue does after a kill or a conflict.
      schedule(name, shoot, fleet.now + 1);
      fleet.failures.push(error);
    }
    if (name === 'managed-resources') react(shoot);
  };

  /** The resource-manager applies, Flux follows, and `readiness` and `sync-mode` write what they see. */
  const react = (shoot: string) => {
    const namespace = technicalId(shoot);
    const { objects } = seed(shoot);
    let isApplied = true;
    for (const name of Object.values(managedResourceNames)) {
      const reference = { ...managedResource, metadata: { namespace, name } };
      const live = objects.find(reference) as unknown as ManagedResource | undefined;
      if (live === undefined || applyState(live).state === 'applied') continue;
      isApplied = false;
      const { generation } = live.metadata;
      const refs = fleet.extension(shoot).status?.state?.applied?.objects[name] ?? [];
      const resources = refs.map(listedResource);
      objects.patchStatus(reference, { observedGeneration: generation, conditions: [conditionFactory()], resources });
      schedule('managed-resources', shoot, fleet.now + 2);
    }
    const extension = fleet.extension(shoot);
    const { applied, bootstrapped } = extension.status?.state ?? {};
    const verdict = fleet.verdict(shoot, branchOf(shoot));
    if (applied !== undefined && isApplied && extension.status?.lastOperation?.state === 'Succeeded') {
      if (verdict !== 'silent') {
        const conditions = conditionsOf(extension, verdict, applied.configHash, fleet.now);
        const isSame = JSON.stringify(conditions) === JSON.stringify(extension.status.conditions ?? []);
        if (!isSame) objects.patchStatus(extensionName(shoot), { conditions });
      }
      if (bootstrapped === undefined && verdict === 'ready') {
        const { fluxVersion, configHash } = applied;
        const first = { at: new Date(fleet.now * 1000).toISOString(), fluxVersion, configHash };
        objects.patchStatus(extensionName(shoot), { state: { bootstrapped: first } });
        schedule('managed-resources', shoot, fleet.now + 1);
      }
    }
    const [subscription] = definition.subscriptions;
    const live = fleet.extension(shoot) as unknown as KubeObject;
    const { state, conditions = [] } = (live as Extension).status ?? {};
    const isJudged = conditions.some(({ message }) => message.endsWith(`(config ${state?.applied?.configHash})`));
    if (isJudged) open.delete(shoot);
    else open.set(shoot, branchOf(shoot));
    if (subscription?.isNews?.(live) !== true) return;
    const seen = JSON.stringify(subscription.wakes(live));
    if (news.get(shoot) !== seen) schedule('project-status', shoot, fleet.now + 1);
    news.set(shoot, seen);
  };

  /** From the content that the resource-manager applies, which is equal in equal Shoots. */
  const branchOf = (shoot: string): string => {
    const namespace = technicalId(shoot);
    const { objects } = seed(shoot);
    const name = managedResourceNames.sync;
    const live = objects.find({ ...managedResource, metadata: { namespace, name } }) as unknown as ManagedResource;
    const content = live?.spec.secretRefs[0]?.name ?? '';
    const known = branchOfContent.get(content);
    if (known !== undefined || content === '') return known ?? '';
    const secret = objects.get({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: content } });
    const list = unpackContent(secret.data as Record<string, string>) ?? [];
    const source = list.find(({ kind }) => kind === 'GitRepository');
    const { ref } = (source?.spec ?? { ref: { branch: '' } }) as { ref: { branch: string } };
    const { branch } = ref;
    branchOfContent.set(content, branch);
    return branch;
  };
  const branchOfContent = new Map<string, string>();

  garden.objects.ensureNamespace(PROJECT);
  for (const shoot of shoots) {
    const namespace = technicalId(shoot);
    const { objects } = seed(shoot);
    objects.ensureNamespace(namespace);
    fleet.shoot(shoot, {});
    objects.create({ ...extensionFactory(), metadata: { namespace, name: 'shoot-flux' } } as never);
  }
  garden.objects.onChange('v1', 'ConfigMap', () => fleet.observe());
  return fleet;
}

const technicalId = (shoot: string) => `shoot--foo--${shoot}`;
const managedResource = { apiVersion: 'resources.gardener.cloud/v1alpha1', kind: 'ManagedResource' };
const extensionName = (shoot: string) => ({
  apiVersion: 'extensions.gardener.cloud/v1alpha1',
  kind: 'Extension',
  metadata: { namespace: technicalId(shoot), name: 'shoot-flux' },
});

/** An entry of `status.resources`, from `Kind.group/namespace/name`. */
function listedResource(ref: string): object {
  const [type = '', namespace = '', name = ''] = ref.split('/');
  const [kind = '', ...group] = type.split('.');
  const apiVersion = [...(group.length > 0 ? [group.join('.')] : []), 'v1'].join('/');
  return { apiVersion, kind, ...(namespace !== '' && { namespace }), name };
}

/** What `readiness` publishes; a condition that stays what it was keeps its time. */
function conditionsOf({ status }: Extension, verdict: Verdict, hash: string, now: number): Condition[] {
  const time = `${new Date(now * 1000).toISOString().slice(0, 19)}Z`;
  return ['FluxReady', 'SourceReady', 'KustomizationReady'].map((type) => {
    const isBad = verdict === 'bad' && type === 'KustomizationReady';
    const live = status?.conditions?.find((condition) => condition.type === type);
    const result = isBad ? 'False' : 'True';
    const same = live?.status === result ? live : undefined;
    return conditionFactory({
      type,
      status: result,
      message: `${isBad ? 'The path ./bad does not exist; correct it.' : 'It is Ready.'} (config ${hash})`,
      lastTransitionTime: same?.lastTransitionTime ?? time,
      lastUpdateTime: same?.lastUpdateTime ?? time,
      ...(isBad && { codes: ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'] }),
    });
  });
}

async function startApi(place: Place): Promise<KubeApi> {
  const identities = await shippedIdentities();
  const crds = place === 'garden' ? gardenCrds() : seedCrds();
  return startKubeApi({
    authorization: 'RBAC',
    tokens: Object.fromEntries(identities.map(({ token, user }) => [token, { name: user }])),
    objects: [...crds, ...(await shippedRbac(place))] as JsonObject[],
  });
}
