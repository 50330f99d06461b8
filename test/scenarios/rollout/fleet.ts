import type { KubeApi } from '@shoot-flux/landscape/kube-api';
import { handler as managedResources } from '../../../functions/managed-resources/handler.ts';
import { definition } from '../../../functions/project-status/function.ts';
import { handler as projectStatus } from '../../../functions/project-status/handler.ts';
import { applyState, managedResourceNames, unpackContent } from '../../../shared/gardener/managed-resource.ts';
import { type RolloutState, readState } from '../../../shared/gardener/rollout.ts';
import { summaryOf } from '../../../shared/gardener/status-map.ts';
import {
  clusterFactory,
  conditionFactory,
  extensionFactory,
  lastOperationFactory,
} from '../../../shared/gardener/testing.ts';
import type { Condition, Extension, ManagedResource, Shoot } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { RequestInfo } from '../../../shared/kube/http-client.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import type { Settings } from '../../../shared/runtime/context.ts';
import { createLog } from '../../../shared/runtime/log.ts';
import { patientClient } from '../../patient-client.ts';
import { secretWith } from '../../shoot-secrets.ts';
import { contextOf, settingsOf } from '../context.ts';
import { type Installation, startShippedApi, tokenOf } from '../identities.ts';
import { answerInProcess } from '../world/in-process-https.ts';

export const PROJECT = 'garden-foo';
const CONFIG = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: PROJECT, name: 'flux-config' } };
const configOf = (namespace: string) => ({ ...CONFIG, metadata: { ...CONFIG.metadata, namespace } });
const PROJECT_OBJECT = { apiVersion: 'core.gardener.cloud/v1beta1', kind: 'Project', spec: { namespace: PROJECT } };
const STATUS = { ...CONFIG, metadata: { namespace: PROJECT, name: 'flux-status' } };
const LANDSCAPE_STATUS = { ...CONFIG, metadata: { namespace: 'garden', name: 'flux-status' } };

/** What Flux in a shoot makes of an edit. `silent`: nothing is heard of it. */
export type Verdict = 'ready' | 'bad' | 'silent';

export interface FleetOptions {
  shoots: string[];
  /** Names of seeds; each has a shoot-flux of its own. Shoots are spread over them. Default: one. */
  seeds?: string[];
  /** Names of projects; Shoots are spread over them. All have the same `flux-config`. Default: one. */
  projects?: string[];
  labels?: (shoot: string) => Record<string, string>;
  spec?: Shoot['spec'];
  /** How many runs happen at the same time. Default 4. */
  parallel?: number;
  /** Those of the Shoots that do not exist yet. */
  later?: string[];
  /** The account that both functions share in the garden. Default: each has its own. */
  installation?: Installation;
}

export type Fleet = Awaited<ReturnType<typeof startFleet>>;

/** The Shoots of projects with the two functions of a rollout, on a simulated clock. Everything else is a stand-in. */
export async function startFleet(options: FleetOptions) {
  const { shoots: all, seeds: names = ['one'], labels = () => ({}), spec = {}, parallel = 4, later = [] } = options;
  const { projects = ['foo'] } = options;
  const position = new Map(all.map((shoot, index) => [shoot, index]));
  const projectOf = (shoot: string) =>
    projects[Math.floor((position.get(shoot) ?? 0) / names.length) % projects.length] as string;
  const technicalId = (shoot: string) => `shoot--${projectOf(shoot)}--${shoot}`;
  const shootName = (name: string) => ({
    apiVersion: 'core.gardener.cloud/v1beta1',
    kind: 'Shoot',
    metadata: { name, namespace: `garden-${projectOf(name)}` },
  });
  const extensionName = (shoot: string) => ({
    apiVersion: 'extensions.gardener.cloud/v1alpha1',
    kind: 'Extension',
    metadata: { namespace: technicalId(shoot), name: 'shoot-flux' },
  });
  const shoots = all.filter((shoot) => !later.includes(shoot));
  const garden = await startShippedApi('garden', options.installation);
  const seeds = new Map(await Promise.all(names.map(async (name) => [name, await startShippedApi('seed')] as const)));
  const net = answerInProcess(new Map([garden, ...seeds.values()].map(({ url, listener }) => [url, listener])));
  const moved = new Map<string, string>();
  const seedOf = (shoot: string) => moved.get(shoot) ?? (names[(position.get(shoot) ?? 0) % names.length] as string);
  const seed = (shoot: string) => seeds.get(seedOf(shoot)) as KubeApi;
  const requests: (RequestInfo & { cluster: string })[] = [];
  const clientOf = (cluster: string, { url, ca }: KubeApi, identity: string) =>
    patientClient(
      { server: url, ca, token: tokenOf(identity) },
      { onRequest: (info) => requests.push({ ...info, cluster }) },
    );
  const handlers = { 'managed-resources': managedResources, 'project-status': projectStatus };
  type Name = keyof typeof handlers;
  const clients = new Map<string, ReturnType<typeof patientClient>>();
  for (const identity of Object.keys(handlers)) {
    clients.set(`garden ${identity}`, clientOf('garden', garden, identity));
    for (const [name, api] of seeds) clients.set(`${name} ${identity}`, clientOf(name, api, identity));
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

  const fleet = {
    now: Date.parse('2026-01-02T03:00:00Z') / 1000,
    /** What Flux makes of the configuration with this branch. */
    verdict: (_shoot: string, _branch: string): Verdict => 'ready',
    /** What the resource-manager makes of the ManagedResources of a Shoot. */
    applies: (_shoot: string): 'applied' | 'failing' | 'never' => 'applied',
    /** What the operators have given the shoot-flux of a seed. */
    given: (_seed: string): Partial<Settings> => ({}),
    /** Requests of the functions since it was cleared. */
    requests,
    logLines: [] as string[],
    /** What runs have thrown. */
    failures,
    /** Replaces the client of a run, for example by one that dies. */
    wrap: (client: KubeClient, _run: string) => client,
    /** Called after each round of runs, and with each change of the status; of a ManagedResource: with its Shoot. */
    observe: (_shoot?: string) => {},
    /** All runs of a seed, or of all, end as in a kill of the process, which then starts again and looks at everything once. */
    restart(of?: string) {
      const isOf = (shoot: string) => of === undefined || seedOf(shoot) === of;
      for (const key of due.keys()) if (isOf(key.split(' ')[1] ?? '')) due.delete(key);
      for (const shoot of shoots.filter(isOf)) {
        schedule('managed-resources', shoot, fleet.now + 1);
        schedule('project-status', shoot, fleet.now + 1);
      }
    },
    /** @param data undefined deletes flux-config */
    edit(data: Record<string, string> | undefined, annotations: Record<string, string> = {}) {
      for (const config of projects.map((name) => configOf(`garden-${name}`))) {
        if (data === undefined) garden.objects.delete(config);
        else garden.objects.apply({ ...config, metadata: { ...config.metadata, annotations }, data } as never);
      }
      fleet.follow();
    },
    /** Creates or rotates a Secret of the project. */
    secret(name: string, data: Record<string, string>) {
      garden.objects.apply({ ...secretWith(PROJECT, name, data), type: 'Opaque' } as never);
      fleet.follow();
    },
    /** The copies that the shoot gets. */
    copies: (shoot: string) => contentOf(shoot, managedResourceNames.secrets).objects(),
    /** The installed objects that the shoot gets. */
    controllers: (shoot: string) => contentOf(shoot, managedResourceNames.controllers).objects(),
    /** The source and the root Kustomization that the shoot gets. */
    synced: (shoot: string) => contentOf(shoot, managedResourceNames.sync).objects(),
    /** The record as a former version has left it, without the targetNamespace. */
    ageRecord: (shoot: string) =>
      void seed(shoot).objects.patchStatus(extensionName(shoot), {
        state: { applied: { targetNamespace: null, keepsNamespace: null } },
      }),
    /** A run for the Shoot, as after an event. */
    wake: (shoot: string) => schedule('managed-resources', shoot, fleet.now),
    /** As in the garden: a label, a deletion, hibernation. */
    shoot(name: string, parts: Partial<Shoot>) {
      const namespace = technicalId(name);
      // The shoots have no API server, which an existing one would be asked.
      const lastOperation = lastOperationFactory({ type: 'Create', state: 'Processing' });
      const status = { technicalID: namespace, seedName: seedOf(name), lastOperation, ...parts.status };
      const { metadata } = parts;
      const shoot = {
        metadata: { labels: labels(name), ...metadata, ...shootName(name).metadata },
        spec: { seedName: seedOf(name), ...spec, ...parts.spec },
        status,
      };
      garden.objects.apply({ apiVersion: 'core.gardener.cloud/v1beta1', kind: 'Shoot', ...shoot } as never);
      const cluster = clusterFactory({ ...shoot, metadata: { ...shoot.metadata, uid: `uid-${name}` } });
      seed(name).objects.apply({
        ...cluster,
        metadata: { name: namespace },
        spec: {
          ...cluster.spec,
          seed: { metadata: { name: seedOf(name), labels: { seed: seedOf(name) } } },
          cloudProfile: {},
        },
      } as never);
      schedule('managed-resources', name, fleet.now);
    },
    /** Creates a Shoot with the extension. */
    create(name: string) {
      const namespace = technicalId(name);
      const { objects } = seed(name);
      shoots.push(name);
      objects.ensureNamespace(namespace);
      fleet.shoot(name, {});
      objects.create({ ...extensionFactory(), metadata: { namespace, name: 'shoot-flux' } } as never);
    },
    /** The Shoot is gone with everything. `unseen`: at a time when the product did not run. */
    remove(name: string, { unseen } = { unseen: false }) {
      const namespace = technicalId(name);
      const { objects } = seed(name);
      shoots.splice(shoots.indexOf(name), 1);
      const { metadata } = fleet.extension(name);
      if ((metadata.finalizers ?? []).length > 0)
        objects.patch(extensionName(name), { metadata: { finalizers: null } });
      objects.delete(extensionName(name));
      if (unseen) objects.delete({ ...clusterFactory(), metadata: { name: namespace } } as never);
      garden.objects.delete(shootName(name));
      for (const key of due.keys()) if (key.endsWith(` ${name}`)) due.delete(key);
      if (!unseen) schedule('project-status', name, fleet.now);
    },
    /** The control plane of a Shoot moves to another seed. */
    move(name: string, to: string) {
      const namespace = technicalId(name);
      const { status } = fleet.extension(name);
      const from = seed(name).objects;
      from.patch(extensionName(name), { metadata: { finalizers: null } });
      from.delete(extensionName(name));
      moved.set(name, to);
      const { objects } = seed(name);
      objects.ensureNamespace(namespace);
      fleet.shoot(name, {});
      const annotations = { 'gardener.cloud/operation': 'restore' };
      objects.create({ ...extensionFactory(), metadata: { namespace, name: 'shoot-flux', annotations } } as never);
      objects.patchStatus(extensionName(name), { state: status?.state });
    },
    /** A request of gardenlet. */
    operate(name: string, operation: 'reconcile') {
      const annotations = {
        'gardener.cloud/operation': operation,
        'gardener.cloud/timestamp': new Date(fleet.now * 1000).toISOString(),
      };
      seed(name).objects.patch(extensionName(name), { metadata: { annotations } });
      schedule('managed-resources', name, fleet.now);
    },
    /** The resource-manager looks at a Shoot again, although nothing of it has changed. */
    fails: (shoot: string) => react(shoot),
    /** Shoots that exist. */
    shoots: () => [...shoots],
    /** Statements of flux-status that are not true. */
    lies: () => [...liesInLines(), ...liesOfRollout()],
    /** Runs everything that is due, until nothing is left within so many seconds. */
    async settle(seconds = 50) {
      await fleet.runWhile((next) => next <= fleet.now + seconds);
    },
    /** Runs everything that is due within so many seconds. */
    async pass(seconds: number) {
      const end = fleet.now + seconds;
      await fleet.runWhile((next) => next <= end);
      fleet.now = end;
    },
    async runWhile(isDue: (next: number) => boolean) {
      for (let rounds = 0; rounds < 20_000 + 100 * shoots.length; rounds++) {
        const next = Math.min(...due.values());
        if (!isDue(next)) return;
        fleet.now = Math.max(fleet.now, next);
        const keys = [...due].filter(([, at]) => at <= fleet.now).slice(0, parallel);
        for (const [key] of keys) due.delete(key);
        await Promise.all(keys.map(([key]) => run(...(key.split(' ') as [Name, string]))));
        fleet.observe();
      }
      throw new Error('the fleet does not come to rest');
    },
    /** Saves the clusters and what is due, at rest. @returns a function that restores them */
    checkpoint(): () => void {
      const copyOf = <Value>(map: Map<string, Value>) => {
        const then = [...map];
        return () => {
          map.clear();
          for (const [key, value] of then) map.set(key, value);
        };
      };
      const clusters = [garden, ...seeds.values()].map((api) => api.checkpoint());
      const parts = [...clusters, copyOf(due), copyOf(news), copyOf(open)];
      const { now, given } = fleet;
      return () => {
        for (const bringBack of parts) bringBack();
        Object.assign(fleet, { now, given });
      };
    },
    /** The branch that a Shoot has. */
    branches: () => new Map(shoots.map((shoot) => [shoot, branchOf(shoot)])),
    /** Shoots that have a branch and no verdict about it. */
    unjudged: (branch: string) =>
      shoots.filter((shoot) => {
        const { applied } = fleet.extension(shoot).status?.state ?? {};
        const verdict = fleet
          .extension(shoot)
          .status?.conditions?.some(({ message }) => message.endsWith(`(config ${applied?.configHash})`));
        return branchOf(shoot) === branch && verdict !== true;
      }),
    extension: (shoot: string) => seed(shoot).objects.get(extensionName(shoot)) as unknown as Extension,
    /** The data of the `flux-status` of a project. */
    status: (project = 'foo'): Record<string, string> => statusIn(`garden-${project}`),
    /** What the `flux-status` of its project says about a Shoot. */
    line: (shoot: string) => fleet.status(projectOf(shoot))[shoot],
    state: (): RolloutState | undefined => readState(fleet.status().RolloutState),
    /** The data of the `flux-status` of the landscape. */
    landscape: () => statusIn('garden'),
    /** Labels the project. */
    project: (labels: Record<string, string>) =>
      void garden.objects.apply({ ...PROJECT_OBJECT, metadata: { name: 'foo', labels } } as never),
    /** Sets annotations of that ConfigMap, as operators do, which wakes the Shoots that take part. */
    annotate(annotations: Record<string, string | null>) {
      garden.objects.patch(LANDSCAPE_STATUS, { metadata: { annotations } });
      const { failed, inProgress, waiting } = readState(fleet.landscape().LandscapeRolloutState) ?? {};
      const woken = [...(failed ?? []), ...(inProgress?.keys() ?? []), ...(waiting?.keys() ?? [])];
      for (const shoot of shoots.filter((one) => woken.includes(`${seedOf(one)}/${technicalId(one)}`)))
        schedule('managed-resources', shoot, fleet.now);
    },
    /** That of an administrator of the garden. */
    kubeconfig: () => garden.kubeconfig(),
    /** Schedules what an edit of the annotations of `flux-config` would cause. */
    follow() {
      for (const shoot of shoots) schedule('managed-resources', shoot, fleet.now);
    },
    setStatus(data: Record<string, string> | undefined) {
      if (data === undefined) garden.objects.delete(STATUS);
      else garden.objects.patch(STATUS, { data });
    },
    /** Creates a flux-status as members do; without our label it is not ours. */
    foreignStatus: (data: Record<string, string>, ofMembers: Record<string, string> = {}) =>
      void garden.objects.create({ ...STATUS, metadata: { ...STATUS.metadata, labels: ofMembers }, data } as never),
    async [Symbol.asyncDispose]() {
      net.restore();
      for (const client of clients.values()) client.close();
      await Promise.all([garden, ...seeds.values()].map((api) => api.stop()));
    },
  };

  const run = async (name: Name, shoot: string) => {
    const cluster = seedOf(shoot);
    try {
      const outcome = await handlers[name](
        { cluster, namespace: technicalId(shoot), name: 'shoot-flux' },
        contextOf({
          kube: async (of) => fleet.wrap(clients.get(`${of} ${name}`) as KubeClient, `${name} ${shoot}`),
          settings: settingsOf({ seeds: [cluster], ...fleet.given(cluster) }),
          send: async (changes) => {
            for (const { key } of changes) {
              const sent = key.namespace.split('--')[2] ?? '';
              if (shoots.includes(sent)) schedule('managed-resources', sent, fleet.now);
            }
          },
          now: () => new Date(fleet.now * 1000),
          log: createLog('error', (line) => fleet.logLines.push(line)),
        }),
      );
      if (outcome.type === 'requeue') schedule(name, shoot, fleet.now + outcome.afterSeconds);
    } catch (error) {
      // As the queue does after a kill or a conflict.
      schedule(name, shoot, fleet.now + 1);
      fleet.failures.push(error);
    }
    if (name === 'managed-resources' && shoots.includes(shoot)) react(shoot);
  };

  /** The resource-manager applies, Flux follows, and `readiness` and `sync-mode` write what they see. */
  const react = (shoot: string) => {
    const namespace = technicalId(shoot);
    const { objects } = seed(shoot);
    let isApplied = true;
    for (const name of Object.values(managedResourceNames)) {
      const reference = { ...managedResource, metadata: { namespace, name } };
      const live = objects.find(reference) as unknown as ManagedResource | undefined;
      const how = fleet.applies(shoot);
      if (how !== 'applied') isApplied = false;
      if (live === undefined || how === 'never' || applyState(live).state === how) continue;
      isApplied = false;
      const { generation } = live.metadata;
      if (how === 'failing') {
        const failing = conditionFactory({ status: 'False', reason: 'ApplyFailed', message: 'It is not valid.' });
        objects.patchStatus(reference, { observedGeneration: generation, conditions: [failing] });
        schedule('managed-resources', shoot, fleet.now + 2);
        continue;
      }
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

  /** What the resource-manager applies. */
  const contentOf = (shoot: string, name: string) => {
    const namespace = technicalId(shoot);
    const { objects } = seed(shoot);
    const live = objects.find({ ...managedResource, metadata: { namespace, name } }) as unknown as ManagedResource;
    const secretName = live?.spec.secretRefs[0]?.name ?? '';
    const read = () => {
      const known = contents.get(secretName);
      if (known !== undefined) return known;
      const secret = objects.get({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: secretName } });
      const content = unpackContent(secret.data as Record<string, string>) ?? [];
      contents.set(secretName, content);
      return content;
    };
    return { secretName, objects: read };
  };

  /** Read once for each content, which is equal in equal Shoots: its name is a hash. */
  const contents = new Map<string, KubeObject[]>();

  const branchOf = (shoot: string): string => {
    const { secretName, objects } = contentOf(shoot, managedResourceNames.sync);
    const known = branchOfContent.get(secretName);
    if (known !== undefined || secretName === '') return known ?? '';
    const source = objects().find(({ kind }) => kind === 'GitRepository');
    const { ref } = (source?.spec ?? { ref: { branch: '' } }) as { ref: { branch: string } };
    const { branch } = ref;
    branchOfContent.set(secretName, branch);
    return branch;
  };
  const branchOfContent = new Map<string, string>();

  const isHibernated = (shoot: string) => {
    const { spec, status } = garden.objects.get(shootName(shoot)) as unknown as Shoot;
    return spec?.hibernation?.enabled === true || status?.hibernated === true;
  };

  /** Compares each line with the Shoot, and the summary with the lines. */
  const liesInLines = (): string[] => {
    const { Summary: summary, Rollout: _text, RolloutState: _state, ...lines } = fleet.status();
    const wrong = [...new Set([...shoots, ...Object.keys(lines)])].flatMap((shoot) => {
      if (!shoots.includes(shoot)) return [`${shoot} does not exist, but: ${lines[shoot]}`];
      const { status } = fleet.extension(shoot);
      const conditions = status?.conditions ?? [];
      const isBad = status?.lastError != null || conditions.some((condition) => condition.status === 'False');
      const expected = isHibernated(shoot) ? 'Hibernated' : isBad ? 'Not Ready' : 'Ready';
      return lines[shoot]?.startsWith(expected) === true ? [] : [`${shoot} is ${expected}, but: ${lines[shoot]}`];
    });
    return summary === summaryOf(lines) ? wrong : [...wrong, `${summary}, but ${summaryOf(lines)}`];
  };

  /** Compares the rollout with the lines and the revisions that Shoots have; for a project at rest. */
  const liesOfRollout = (): string[] => {
    const state = fleet.state();
    if (state === undefined) return fleet.status().Rollout === undefined ? [] : ['a text without a state'];
    const lines = fleet.status();
    const revisionOf = (shoot: string) => fleet.extension(shoot).status?.state?.applied?.revision;
    const gone = [...state.waiting.keys(), ...state.inProgress.keys(), ...state.failed].filter(
      (shoot) => !shoots.includes(shoot),
    );
    return [
      ...gone.map((shoot) => `${shoot} does not exist, but takes part`),
      ...[...state.failed]
        .filter((shoot) => lines[shoot]?.startsWith('Ready'))
        .map((shoot) => `${shoot} failed, but is Ready`),
      ...[...state.waiting.keys()]
        .filter((shoot) => shoots.includes(shoot) && revisionOf(shoot) === state.revision)
        .map((shoot) => `${shoot} has the revision, but waits`),
    ];
  };

  const statusIn = (namespace: string): Record<string, string> => {
    const map = garden.objects.find({ ...STATUS, metadata: { ...STATUS.metadata, namespace } });
    return (map as { data?: Record<string, string> } | undefined)?.data ?? {};
  };

  for (const name of projects) garden.objects.ensureNamespace(`garden-${name}`);
  garden.objects.ensureNamespace('garden');
  for (const shoot of shoots.splice(0)) fleet.create(shoot);
  garden.objects.onChange('v1', 'ConfigMap', () => fleet.observe());
  for (const { objects } of seeds.values()) {
    objects.onChange(managedResource.apiVersion, managedResource.kind, ({ object }) =>
      fleet.observe(object.metadata.namespace?.split('--')[2]),
    );
  }
  return fleet;
}

const managedResource = { apiVersion: 'resources.gardener.cloud/v1alpha1', kind: 'ManagedResource' };

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
