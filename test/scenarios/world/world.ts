import { join } from 'node:path';
import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import type { JsonObject } from '@shoot-flux/landscape/kube-api';
import { type KubeApi, type RequestSummary, startKubeApi, useClock } from '@shoot-flux/landscape/kube-api';
import { findFunctions } from '../../../infra/functions.ts';
import { createKubeClient } from '../../../shared/kube/http-client.ts';
import type { Settings } from '../../../shared/runtime/context.ts';
import { GARDEN } from '../../../shared/runtime/key.ts';
import { type Flux, installFlux } from './flux.ts';
import { type Gardenlet, gardenletOf, SEED } from './gardenlet.ts';
import { type ProductLife, type Surroundings, startLife, startTwins, VISIBILITY_MS } from './product.ts';
import { createResourceManager } from './resource-manager.ts';

/** A request of a function; the world can be stopped there. */
export interface FunctionRequest {
  /** Counts from 1. */
  number: number;
  cluster: Cluster;
  summary: RequestSummary;
  /** Changes that anybody had made before: between two of them the clusters stay as they are. */
  state: number;
  /** Number of the run that made it. */
  run: number;
}

type Cluster = 'garden' | 'seed' | 'shoot';

/** Where the world stops. */
export interface Kill {
  /** Number of the request of a function; `every write`: again and again, so that no life writes twice. */
  at: number | 'every write';
  /** `before` it is carried out, or `after`, when the answer is lost. */
  when: 'before' | 'after';
  /**
   * `process`: everything of the product dies, with what it remembered, and is started again.
   * `outage`: the same, but resource-manager and Flux go on for a while before.
   * `missed`: the same, and whatever else happens in this life happens while nothing of the product is there.
   * `function`: only the run dies, as a Lambda does; its message comes again.
   * `late`: the run overruns its lease: its message comes again, and the run goes on when all is over.
   * `overtaken`: the same, and whatever else happens in this life happens while it waits.
   */
  what: 'process' | 'outage' | 'missed' | 'function' | 'late' | 'overtaken';
}

/** Runs that are taken for lost and are not. */
export const goesOn = (what: Kill['what']) => what === 'late' || what === 'overtaken';
/** All that is left of a life happens at once, at the kill. */
export const isHurried = (what: Kill['what']) => what === 'missed' || what === 'overtaken';

export interface WorldOptions {
  /** Who is faster when several have something to do: resource-manager and Flux, or the product. Default: the product. */
  othersFirst?: boolean;
  /** Two products at once, on the same clusters. Default: one. */
  twins?: boolean;
  /** Who brings the objects into the shoot. Default: the resource-manager. */
  delivery?: Settings['delivery'];
}

/** A garden, a seed and a shoot with everything around the product, on a clock of its own. */
export interface World extends AsyncDisposable {
  garden: KubeApi;
  seed: KubeApi;
  shoot: KubeApi;
  gardenlet: Gardenlet;
  flux: Flux;
  requests: FunctionRequest[];
  logLines: string[];
  deadLetters(): string[];
  /** Arms a kill; requests are counted from now on. `onKill` is called when it happens. */
  arm(kill: Kill | undefined, onKill?: () => void): void;
  /** True once the armed kill has happened. */
  killed(): boolean;
  /** Lets everybody act until nobody has anything to do for a while. */
  settle(calmMs?: number): Promise<void>;
  /** Lets runs that have overrun their lease go on to their end. */
  resume(): Promise<void>;
  /**
   * Remembers everything as it is, but for the product, which remembers nothing.
   * @returns what brings it back with a new product, and lets that calm down
   */
  checkpoint(): () => Promise<void>;
}

const FUNCTIONS = 'functions';
const DISTRIBUTION = join(import.meta.dirname, '../../landscape/distribution');
/** Calm for so long is calm; longer than any patience of the product while an operation is under way. */
const CALM_MS = 30_000;
/** A world that does not calm down flaps. */
const MOST_STEPS = 1500;

const functions = findFunctions();
const never = new Promise<never>(() => {});

export async function startWorld({
  othersFirst = false,
  twins = false,
  delivery = 'ManagedResource',
}: WorldOptions = {}): Promise<World> {
  const requests: FunctionRequest[] = [];
  const logLines: string[] = [];
  let deadLetters: string[] = [];
  let moment = { time: Date.parse('2026-05-01T12:00:00Z'), calmSince: 0, runs: 0 };
  let kill: Kill | undefined;
  let onKill = () => {};
  let hasHappened = false;
  let resumed = Promise.withResolvers<void>();

  const onRequest = (cluster: Cluster) => async (summary: RequestSummary) => {
    if (summary.user !== FUNCTIONS) return;
    const { runs } = moment;
    const number = requests.push({ number: requests.length + 1, cluster, summary, state: changes(), run: runs });
    const isWrite = summary.method !== 'GET';
    if (kill?.at === number || (kill?.at === 'every write' && isWrite)) await stop(kill, cluster, summary);
  };
  const changes = () => [apis.garden, apis.seed, apis.shoot].reduce((sum, api) => sum + api.revision(), 0);
  const stop = async ({ at, when, what }: Kill, cluster: Cluster, { method, path }: RequestSummary): Promise<void> => {
    if (goesOn(what)) {
      carryOutKill(what);
      await resumed.promise;
    } else if (when === 'before') {
      carryOutKill(what);
      await never;
    } else {
      const match = { user: FUNCTIONS, method, path: new RegExp(`^${path}$`) };
      const kill = () => void setImmediate(() => carryOutKill(what));
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
  const clientOf = ({ url, ca }: KubeApi) => createKubeClient({ server: url, ca, token: FUNCTIONS });
  const clients = { garden: clientOf(garden), seed: clientOf(seed) };
  const now = () => new Date(moment.time);
  const useOwnClock = useClock(now);
  const gardenlet = gardenletOf({ garden, seed, shoot, now, shootToken: FUNCTIONS });
  const flux = installFlux(shoot);
  const resourceManager = createResourceManager({ seed, shoot, now });

  const surroundings: Surroundings = {
    functions: await functions,
    settings: {
      landscape: 'world',
      seeds: [SEED],
      fluxDistribution: DISTRIBUTION,
      shootHealth: false,
      delivery,
      shootAccess: 'external',
    },
    api: (cluster) => (cluster === GARDEN ? garden : seed),
    client: (cluster) => (cluster === GARDEN ? clients.garden : clients.seed),
    now,
    onRun: () => moment.runs++,
    logLines,
  };
  const startProduct = () => (twins ? startTwins(surroundings) : startLife(surroundings));
  let product: ProductLife | undefined = startProduct();
  let startsAtOnce = false;

  const carryOutKill = (what: Kill['what']) => {
    if (kill?.at !== 'every write') kill = undefined;
    hasHappened = true;
    if (what !== 'function' && !goesOn(what)) {
      deadLetters.push(...(product?.deadLetters() ?? []));
      product?.die();
      product = undefined;
      startsAtOnce = what === 'process';
    } else {
      product?.loseRun({ isDead: !goesOn(what) });
      moment.calmSince = moment.time + VISIBILITY_MS;
    }
    onKill();
  };

  /** One thing that somebody does now; false when nobody has anything to do. */
  const step = async (): Promise<boolean> => {
    if (product === undefined && startsAtOnce) product = startProduct();
    const others = async () => (await resourceManager.step()) || flux.step();
    const ours = async () => (await product?.step()) === true;
    if (othersFirst ? (await others()) || (await ours()) : (await ours()) || (await others())) return true;
    if (product !== undefined) return false;
    product = startProduct();
    return true;
  };

  const settle = async (calmMs = CALM_MS): Promise<void> => {
    let before = -1;
    for (let steps = 0; steps < MOST_STEPS; steps++) {
      if (changes() !== before) moment.calmSince = Math.max(moment.calmSince, moment.time);
      before = changes();
      if (await step()) continue;
      const next = Math.min(product?.nextDue() ?? Infinity, resourceManager.nextDue() ?? Infinity);
      if (next > moment.calmSince + calmMs) return;
      moment.time = Math.max(moment.time, next);
    }
    throw new Error(`the world does not calm down; last said:\n${logLines.slice(-3).join('\n')}`);
  };

  return {
    ...apis,
    gardenlet,
    flux,
    requests,
    logLines,
    deadLetters: () => [...deadLetters, ...(product?.deadLetters() ?? [])],
    arm(next, listener = () => {}) {
      kill = next;
      onKill = listener;
      hasHappened = false;
      requests.length = 0;
    },
    killed: () => hasHappened,
    settle: (calmMs) => settle(calmMs),
    async resume() {
      resumed.resolve();
      await product?.lateRuns();
      await settle();
      gardenlet.collectGarbage();
    },
    checkpoint() {
      const { works } = flux;
      const { time } = moment;
      const bringBack = [garden, seed, shoot, resourceManager].map((part) => part.checkpoint());
      return async () => {
        product?.die();
        resumed = Promise.withResolvers();
        for (const back of bringBack) back();
        for (const api of [garden, seed, shoot]) {
          api.requests.length = 0;
          api.faults.clear();
        }
        Object.assign(flux, { works, pruned: [] });
        moment = { time, calmSince: time, runs: 0 };
        deadLetters = [];
        product = startProduct();
        await settle(0);
      };
    },
    async [Symbol.asyncDispose]() {
      product?.die();
      useOwnClock();
      for (const part of [resourceManager, clients.garden, clients.seed]) part.close();
      await Promise.all([garden, seed, shoot].map((api) => api.stop()));
    },
  };
}

async function startApis(onRequest: (cluster: Cluster) => (summary: RequestSummary) => Promise<void>) {
  const tokens = { [FUNCTIONS]: { name: FUNCTIONS, groups: ['system:masters'] } };
  const [garden, seed, shoot] = await Promise.all([
    startKubeApi({ tokens, objects: gardenCrds() as JsonObject[], onRequest: onRequest('garden') }),
    startKubeApi({ tokens, objects: seedCrds() as JsonObject[], onRequest: onRequest('seed') }),
    startKubeApi({ tokens, namespaceController: true, onRequest: onRequest('shoot') }),
  ]);
  return { garden, seed, shoot };
}
