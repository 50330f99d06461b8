import { randomInt } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@shoot-flux/landscape/eventually';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import type { Receive } from '../../../events/cloudevents/answer.ts';
import { createEventBridge } from '../../../events/cloudevents/bridge.ts';
import { serveFunctions } from '../../../events/cloudevents/serve.ts';
import { openSink } from '../../../events/cloudevents/sink.ts';
import { openQueue, type Queue } from '../../../events/queue/queue.ts';
import { changeOf, definitionOf, functionOf, keptLog, keyOf, processDependencies } from '../../../events/testing.ts';
import { bundleCli } from '../../../infra/bundle/bundle-cli.ts';
import { startEventServer } from '../../../infra/knative/event-server.ts';
import { knativeManifests, nameOf, WATCHER } from '../../../infra/knative/manifests.ts';
import { createPrometheusMetrics } from '../../../infra/process/metrics.ts';
import { RetryableError, TerminalError } from '../../../shared/errors.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { createClusterHealth } from '../../../shared/runtime/cluster-health.ts';
import type { Handler } from '../../../shared/runtime/context.ts';
import { done, requeueAfter } from '../../../shared/runtime/outcome.ts';
import { tokenOf } from '../../scenarios/identities.ts';
import { SEED, type Stage, startStage } from '../../scenarios/stage.ts';
import { freePorts } from '../cluster/ports.ts';
import { answersOk, programFolder, type RunningProgram, startProgram, waitUntilReady } from '../cluster/start.ts';
import { onRealApis, useApiServers } from '../on-real-apis.ts';
import { refused } from '../rights.ts';
import { brokerUrl, createBroker, manifest } from './knative/broker.ts';
import { type DataPlane, startDataPlane } from './knative/data-plane.ts';
import { liveOneLife } from './life.ts';

const NAMES = ['managed-resources', 'sync-mode', 'readiness', 'keys', 'fan-out'];

/** Functions whose code the test chooses, and the bridge, behind Knative's own ingress, filter and dispatcher. */
describe("behind Knative's broker", () => {
  const used = useApiServers({ knative: {} });
  let plane: DataPlane;
  let bridge: ReturnType<typeof createEventBridge>;
  let forwarding: ReturnType<Queue['forward']>;
  let sink: ReturnType<typeof openSink>;
  const servers: Awaited<ReturnType<typeof startEventServer>>[] = [];
  const handlers = new Map<string, Handler>();
  /** Ids of the events that each function got. */
  const received = new Map<string, string[]>();
  const { log, lines } = keptLog();
  const metrics = createPrometheusMetrics();

  beforeAll(async () => {
    plane = await startDataPlane(used.servers.knative);
    sink = openSink({ url: brokerUrl(plane) });
    const { sender } = sink;
    const definitions = NAMES.map((name) => definitionOf(name));
    const queue = openQueue({ definitions, metrics, concurrency: Infinity });
    forwarding = queue.forward({ sender, log, metrics });
    bridge = createEventBridge({ functions: NAMES, queue, health: createClusterHealth(), log, metrics });
    const addresses = new Map<string, string>();
    const serve = async (name: string, receive: Receive) => {
      const started = await startEventServer({ port: 0, receive, log, metrics });
      servers.push(started);
      addresses.set(name, `http://127.0.0.1:${started.port}/`);
    };
    await serve(WATCHER, bridge.receive);
    for (const name of NAMES) {
      const handler: Handler = (key, context) => handlers.get(`${name} ${key.namespace}`)?.(key, context) ?? ended();
      const dependencies = processDependencies({ log, metrics });
      const functions = [{ queueFunction: functionOf(handler, name), dependencies }];
      const receive = serveFunctions({ functions, sender, concurrency: 20 });
      await serve(nameOf(name), (event) => {
        received.set(name, [...(received.get(name) ?? []), event.attributes.id ?? '']);
        return receive(event);
      });
    }
    await createBroker(plane, (service) => addresses.get(service) ?? '');
    await untilDelivered();
  });

  afterAll(async () => {
    await forwarding?.stop();
    sink?.close();
    await Promise.all(servers.map((each) => each.stop(1000)));
    await plane?.[Symbol.asyncDispose]();
  });

  const ended = async () => done;

  /** The dispatcher and the filter learn of objects a moment later; events before that are lost. */
  const untilDelivered = async () => {
    const probes = NAMES.map((name) => changeOf({ function: name, key: keyOf(0) }));
    const delays = {
      ...changeOf({ key: keyOf(0) }),
      cause: { type: 'notBefore', notBefore: new Date().toISOString() },
    };
    const repeated = (what: string, send: () => Promise<unknown>, isDelivered: () => boolean) =>
      eventually(what, async () => {
        await send();
        await sleep(200);
        return isDelivered();
      }).catch(async (error: Error) => {
        throw new Error(`${error.message}\n${await plane.output()}`);
      });
    const send = () => sink.sender.send(probes).catch(() => {});
    await repeated('a delivery to each function', send, () => received.size === NAMES.length);
    received.clear();
    // The bridge has its own Trigger.
    const wait = () => sink.sender.retryLater(delays as never, 0);
    await repeated('a delivery by the bridge', wait, () => received.has('managed-resources'));
    received.clear();
  };

  it('a run that never succeeds is a dead letter at once, with its reason', async () => {
    let runs = 0;
    handlers.set(`keys ${keyOf(5).namespace}`, async () => {
      runs++;
      throw new TerminalError('The key of Shoot s5 is bad; replace it.');
    });
    await sink.sender.send([changeOf({ function: 'keys', key: keyOf(5) })]);
    await expect
      .poll(() => bridge.deadLetters.list().deadLetters)
      .toMatchObject([{ function: 'keys', key: keyOf(5), reason: 'The key of Shoot s5 is bad; replace it.' }]);
    expect(runs).toBe(1);
  });

  it('an event that is no change is a dead letter that nothing keeps', async () => {
    received.clear();
    const headers = {
      ...{ 'ce-specversion': '1.0', 'ce-id': 'x', 'ce-source': '/x', 'content-type': 'application/json' },
      'ce-type': 'dev.shoot-flux.keys.change.v1',
    };
    const { status } = await fetch(brokerUrl(plane), { method: 'POST', headers, body: '{"password":"secret"}' });
    expect(status).toBe(202);
    await expect.poll(() => received.get('keys')).toEqual(['x']);
    // The function refuses it, then the bridge.
    await expect.poll(() => lines.filter(({ message }) => message === 'event rejected')).toHaveLength(2);
    expect(JSON.stringify(lines)).not.toContain('secret');
    expect(bridge.deadLetters.list().deadLetters).toHaveLength(1);
  });

  it('a look that a run asks for waits in the bridge, and comes back', async () => {
    const at: number[] = [];
    handlers.set(`readiness ${keyOf(6).namespace}`, async () => {
      at.push(Date.now());
      return at.length === 1 ? requeueAfter(2) : done;
    });
    await sink.sender.send([changeOf({ function: 'readiness', key: keyOf(6) })]);
    await expect.poll(() => bridge.waiting()).toBe(1);
    await expect.poll(() => at.length).toBe(2);
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(1_900);
    expect(bridge.waiting()).toBe(0);
  });

  it('when the short retries of the broker are used up, the bridge keeps the change', async () => {
    let runs = 0;
    handlers.set(`managed-resources ${keyOf(7).namespace}`, async () => {
      runs++;
      throw new RetryableError('Not yet.');
    });
    await sink.sender.send([changeOf({ key: keyOf(7) })]);
    await expect.poll(() => bridge.waiting()).toBe(1);
    // The first attempt and five retries, after 0.5, 1, 2, 4 and 8 s.
    expect(runs).toBe(6);
    expect(bridge.deadLetters.list().deadLetters).toHaveLength(1);
  });
});

onRealApis('on Knative', ({ startApis, fluxDistribution, apis }) => {
  let folder: string;
  let plane: DataPlane;
  let stage: Stage;
  let exampleConfig: Record<string, unknown>;
  /** How the watcher and each function are started, and what runs of them now. */
  const starts = new Map<string, () => Promise<RunningProgram>>();
  const running = new Map<string, RunningProgram>();

  /**
   * Arguments of a container of our manifests, with the config file of the example. Each identity has its own token, with
   * exactly the shipped rights. Only what a Pod has at fixed paths is elsewhere.
   */
  const argsOf = async (identity: string, manifested: KubeObject) => {
    const { garden, seed } = apis().servers;
    const [gardenFile, seedFile] = await Promise.all(
      [garden, seed].map((api) => api.kubeconfigFile(tokenOf(identity))),
    );
    const own = { garden: gardenFile, seeds: { [SEED]: seedFile }, fluxDistribution };
    const file = join(folder, `${identity}.yaml`);
    await writeFile(file, stringify({ ...exampleConfig, ...own }));
    const { template } = manifested.spec as { template: { spec: { containers: { args: string[] }[] } } };
    const args = template.spec.containers.flatMap(({ args }) => args);
    return [join(folder, 'shoot-flux.mjs'), ...args.map((arg) => (arg === '/etc/shoot-flux/config.yaml' ? file : arg))];
  };

  const startable = (name: string, args: string[], env: Record<string, string>, probe: string) =>
    starts.set(name, async () => {
      const own = await programFolder(name);
      const program = await startProgram({ name, command: process.execPath, args, env, folder: own });
      await waitUntilReady(name, program, () => answersOk(probe));
      return program;
    });
  const restart = async (name: string) => {
    await running.get(name)?.stop();
    running.set(name, (await starts.get(name)?.()) as RunningProgram);
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shoot-flux-cli-'));
    await bundleCli(folder);
    stage = await startStage(await startApis(), fluxDistribution);
    plane = await startDataPlane(apis().servers.garden);
    exampleConfig = parse((await knativeManifests())['overlays/example/config.yaml'] ?? '');
    const sink = { K_SINK: brokerUrl(plane) };
    const services = await manifest('services');
    const [port = 0, eventsPort = 0, ...ports] = await freePorts(2 + services.length);
    const [deployment] = (await manifest('watcher')) as [KubeObject];
    const given = await argsOf('watcher', deployment);
    const args = given.map((arg) => (arg === '8080' ? `${port}` : arg === '8081' ? `${eventsPort}` : arg));
    startable('watcher', args, sink, `http://127.0.0.1:${port}/healthz`);
    const addresses = new Map([[WATCHER, `http://127.0.0.1:${eventsPort}/`]]);
    for (const [index, service] of services.entries()) {
      const name = service.metadata.labels?.['app.kubernetes.io/component'] ?? '';
      const url = `http://127.0.0.1:${ports[index]}/`;
      startable(name, await argsOf(name, service), { ...sink, PORT: `${ports[index]}` }, `${url}readyz`);
      addresses.set(service.metadata.name, url);
    }
    await createBroker(plane, (service) => addresses.get(service) ?? '');
    await Promise.all([...starts.keys()].map(restart));
  });

  afterAll(async () => {
    for (const program of running.values()) await program.stop();
    await stage?.[Symbol.asyncDispose]();
    await plane?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  it('a Shoot lives its life, while instances are killed in the middle', async () => {
    const steps = await liveOneLife(stage, async (step) => {
      await sleep(100 + randomInt(600));
      const moves = step === 'config change' || step === 'migrate';
      const victims = [...starts.keys()].filter((name) => (name === 'watcher' ? moves : randomInt(2) === 0));
      await Promise.all(victims.map(restart));
    }).catch(async (error: unknown) => {
      const outputs = [...running.values()].map((program) => program.output());
      const said = await Promise.all([plane.output(), ...outputs]);
      throw new Error(`${error}\n${said.join('\n')}`, { cause: error });
    });
    expect(steps).toContain('remove');
    expect(await refused(apis().servers)).toEqual([]);
  });
});
