import { setTimeout as sleep } from 'node:timers/promises';
import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import type { JsonObject } from '@shoot-flux/landscape/kube-api';
import {
  type ApiObject,
  type KubeApi,
  type OnRequest,
  type RequestSummary,
  startKubeApi,
  useClock,
} from '@shoot-flux/landscape/kube-api';
import { restrictions } from '@shoot-flux/landscape/restrictions';
import { findFunctions } from '../../../infra/functions.ts';
import { GARDEN } from '../../../shared/runtime/key.ts';
import { patientClient } from '../../patient-client.ts';
import { settingsOf } from '../context.ts';
import { installFlux } from './flux.ts';
import { gardenletOf } from './gardenlet.ts';
import { answerInProcess } from './in-process-https.ts';
import {
  type ClusterName,
  type FunctionRequest,
  type Kill,
  type KillKind,
  type Moment,
  runContinues,
} from './kills.ts';
import { type ProductDependencies, type ProductInstance, startInstance, startTwoInstances } from './product.ts';
import { VISIBILITY_MS } from './queues.ts';
import { createResourceManager } from './resource-manager.ts';

export interface WorldOptions {
  /** True: resource-manager and Flux act before the product when both have something to do. Default: the product first. */
  othersFirst?: boolean;
  /** True: two instances of the product at once, on the same clusters. Default: one. */
  twoInstances?: boolean;
  /** That of one process, or SQS, which alone can take a run for lost. Default: of one process. */
  queue?: 'process' | 'sqs';
  /** Folder of Flux releases. Default: the stand-in distribution. */
  distribution?: string | undefined;
}

export type World = Awaited<ReturnType<typeof startWorld>>;

const FUNCTIONS = 'functions';
/** The world counts as calm after this time without a change: longer than any wait of the product during an operation. */
const CALM_MS = 30_000;
/** A world that takes more steps than this never calms down. */
const MOST_STEPS = 1500;

/** What `project-status` shows depends on how long a state has lasted; scenarios/project/suite.ts kills it. */
const functions = findFunctions().then((all) => all.filter(({ definition }) => definition.name !== 'project-status'));
const never = new Promise<never>(() => {});

/** A garden, a seed and a shoot with everything around the product, on a simulated clock. */
export async function startWorld({
  othersFirst = false,
  twoInstances = false,
  queue = 'process',
  distribution = standInDistribution.folder,
}: WorldOptions = {}) {
  const requests: FunctionRequest[] = [];
  const logLines: string[] = [];
  let deadLetters: string[] = [];
  let moment = { time: Date.parse('2026-05-01T12:00:00Z'), calmSince: 0, runs: 0 };
  let kill: Kill | undefined;
  let onKill = () => {};
  let hasHappened = false;
  /** True in the run without a kill: kills return to its moments. */
  let remembers = false;
  /** The moment at which the current run began. */
  let start: Moment | undefined;
  let resumed = Promise.withResolvers<void>();

  const onRequest = (cluster: ClusterName) => async (summary: RequestSummary) => {
    if (summary.user !== FUNCTIONS) return;
    const { runs } = moment;
    const request: FunctionRequest = { number: requests.length + 1, cluster, summary, state: changes(), run: runs };
    const number = requests.push(request);
    const isWrite = summary.method !== 'GET';
    if (remembers) {
      Object.assign(request, { start, before: remember() });
      return () => {
        if (isWrite) request.after = remember();
      };
    }
    if (kill?.at === number || (kill?.at === 'every write' && isWrite)) await stop(kill, cluster, summary);
    return undefined;
  };
  const changes = () => [apis.garden, apis.seed, apis.shoot].reduce((sum, api) => sum + api.revision(), 0);
  const stop = async (
    { at, when, kind }: Kill,
    cluster: ClusterName,
    { method, path }: RequestSummary,
  ): Promise<void> => {
    if (runContinues(kind)) {
      carryOutKill(kind);
      await resumed.promise;
    } else if (when === 'before') {
      carryOutKill(kind);
      await never;
    } else {
      const match = { user: FUNCTIONS, method, path: new RegExp(`^${path}$`) };
      const kill = () => void setImmediate(() => carryOutKill(kind));
      apis[cluster].faults.add({
        match,
        action: 'hang',
        after: true,
        ...(at === 'every write' && { ifChanged: kill }),
      });
      if (at !== 'every write') kill();
    }
  };

  const apis = await startApis(onRequest);
  const { garden, seed, shoot } = apis;
  const net = answerInProcess(new Map([garden, seed, shoot].map(({ url, listener }) => [url, listener])));
  const clientOf = ({ url, ca }: KubeApi) => patientClient({ server: url, ca, token: FUNCTIONS });
  const clients = { garden: clientOf(garden), seed: clientOf(seed) };
  const now = () => new Date(moment.time);
  const useOwnClock = useClock(now);
  const gardenlet = gardenletOf({ garden, seed, shoot, now, shootToken: FUNCTIONS });
  const flux = installFlux(shoot);
  const resourceManager = createResourceManager({ seed, shoot, now });

  const dependencies: ProductDependencies = {
    functions: await functions,
    queue,
    settings: settingsOf({ landscape: 'world', fluxDistribution: distribution }),
    api: (cluster) => (cluster === GARDEN ? garden : seed),
    client: (cluster) => (cluster === GARDEN ? clients.garden : clients.seed),
    now,
    onRun() {
      start = remembers ? remember() : undefined;
      moment.runs++;
    },
    logLines,
  };
  const startProduct = () => (twoInstances ? startTwoInstances(dependencies) : startInstance(dependencies));
  let product: ProductInstance | undefined = startProduct();
  let startsAtOnce = false;

  const carryOutKill = (kind: KillKind) => {
    if (kill?.at !== 'every write') kill = undefined;
    hasHappened = true;
    if (kind !== 'function' && !runContinues(kind)) {
      deadLetters.push(...(product?.deadLetters() ?? []));
      product?.kill();
      product = undefined;
      startsAtOnce = kind === 'process';
    } else {
      product?.loseRun({ isDead: !runContinues(kind) });
      moment.calmSince = moment.time + VISIBILITY_MS;
    }
    onKill();
  };

  /** Remembers everything but the memory of the product that dies with it. @returns a function that brings it back */
  const remember = (): Moment => {
    const apis = [garden, seed, shoot];
    const parts = [...apis, ...apis.map(({ faults }) => faults), resourceManager, net].map((part) => part.checkpoint());
    const answered = apis.map(({ requests }) => requests.filter(({ status }) => status !== 0));
    const { works, pruned } = flux;
    const then = { ...moment };
    const dead = [...deadLetters, ...(product?.deadLetters() ?? [])];
    const startAgain = product?.remember();
    return ({ begins } = { begins: false }) => {
      product?.kill();
      for (const bringBack of parts) bringBack();
      for (const [index, { requests }] of apis.entries()) requests.splice(0, Infinity, ...(answered[index] ?? []));
      Object.assign(flux, { works, pruned: [...pruned] });
      moment = { ...then };
      deadLetters = [...dead];
      product = startAgain?.(begins);
    };
  };

  /** Lets one actor do one thing; false when none has anything to do. */
  const step = async (): Promise<boolean> => {
    if (product === undefined && startsAtOnce) product = startProduct();
    const others = async () => (await resourceManager.step()) || flux.step();
    const ours = async () => (await product?.step()) === true;
    if (othersFirst ? (await others()) || (await ours()) : (await ours()) || (await others())) return true;
    if (product !== undefined) return false;
    product = startProduct();
    return true;
  };

  /** Gives the shoot's namespace controller, which works in real time, time to remove namespaces. */
  const namespacesChange = async (ms: number): Promise<boolean> => {
    const isDeleting = ({ metadata }: ApiObject) => metadata.deletionTimestamp !== undefined;
    if (!shoot.objects.list('v1', 'Namespace').some(isDeleting)) return false;
    const revision = changes();
    await sleep(ms);
    return changes() !== revision;
  };

  /** Lets all actors work until none of them has had anything to do for a while. */
  const settle = async (calmMs = CALM_MS): Promise<void> => {
    let before = -1;
    for (let steps = 0; steps < MOST_STEPS; steps++) {
      if (changes() !== before) moment.calmSince = Math.max(moment.calmSince, moment.time);
      before = changes();
      if ((await step()) || (await namespacesChange(2))) continue;
      const next = Math.min(product?.nextDue() ?? Infinity, resourceManager.nextDue() ?? Infinity);
      if (next > moment.calmSince + calmMs) {
        // The namespace controller retries after 100 ms.
        if (await namespacesChange(120)) continue;
        return;
      }
      moment.time = Math.max(moment.time, next);
    }
    throw new Error(`the world does not calm down; last log lines:\n${logLines.slice(-3).join('\n')}`);
  };

  return {
    ...apis,
    gardenlet,
    flux,
    requests,
    logLines,
    deadLetters: () => [...deadLetters, ...(product?.deadLetters() ?? [])],
    /** Arms a kill; requests are counted from now on. `onKill` is called when it happens. */
    arm(next: Kill | undefined, listener = () => {}) {
      kill = next;
      remembers = next === undefined;
      onKill = listener;
      hasHappened = false;
      requests.length = 0;
    },
    /** Brings back a moment of the life without a kill, at which this kill happens. `onKill` is called when it has. */
    killAt(bringBack: Moment, kind: KillKind, listener = () => {}) {
      this.arm(undefined, listener);
      remembers = false;
      bringBack();
      carryOutKill(kind);
    },
    /** Brings back the start of a run before which there were these requests, and arms a kill in it. */
    armAgain(bringBack: Moment, before: readonly FunctionRequest[], next: Kill, listener = () => {}) {
      this.arm(next, listener);
      requests.push(...before);
      resumed = Promise.withResolvers();
      bringBack({ begins: true });
    },
    /** True once the armed kill has happened. */
    killed: () => hasHappened,
    settle,
    /** Lets runs that have overrun their lease continue to their end. */
    async resume() {
      resumed.resolve();
      await product?.lateRuns();
      await settle();
      gardenlet.collectGarbage();
    },
    /**
     * Saves the state of everything except the product, which keeps nothing.
     * @returns a function that restores the state, starts the product again, and waits until it is calm
     */
    checkpoint() {
      for (const api of [garden, seed, shoot]) api.requests.length = 0;
      Object.assign(moment, { calmSince: moment.time, runs: 0 });
      const bringBack = remember();
      return async () => {
        resumed = Promise.withResolvers();
        bringBack();
        product = startProduct();
        await settle(0);
      };
    },
    async [Symbol.asyncDispose]() {
      product?.kill();
      useOwnClock();
      net.restore();
      for (const part of [resourceManager, clients.garden, clients.seed]) part.close();
      await Promise.all([garden, seed, shoot].map((api) => api.stop()));
    },
  };
}

async function startApis(onRequest: (cluster: ClusterName) => OnRequest) {
  const tokens = { [FUNCTIONS]: { name: FUNCTIONS, groups: ['system:masters'] } };
  const [garden, seed, shoot] = await Promise.all([
    startKubeApi({
      tokens,
      objects: gardenCrds() as JsonObject[],
      webhooks: restrictions,
      onRequest: onRequest('garden'),
    }),
    startKubeApi({ tokens, objects: seedCrds() as JsonObject[], onRequest: onRequest('seed') }),
    startKubeApi({ tokens, namespaceController: true, onRequest: onRequest('shoot') }),
  ]);
  return { garden, seed, shoot };
}
