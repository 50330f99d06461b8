import { randomInt } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { bundleCli } from '../../../infra/bundle/bundle-cli.ts';
import { knativeManifests, WATCHER } from '../../../infra/knative/manifests.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { tokenOf } from '../../scenarios/identities.ts';
import { SEED, type Stage, startStage } from '../../scenarios/stage.ts';
import { freePorts } from '../cluster/ports.ts';
import { answersOk, programFolder, type RunningProgram, startProgram, waitUntilReady } from '../cluster/start.ts';
import { onRealApis } from '../on-real-apis.ts';
import { refused } from '../rights.ts';
import { brokerUrl, createBroker, manifest } from './knative/broker.ts';
import { type DataPlane, startDataPlane } from './knative/data-plane.ts';
import { liveOneLife } from './life.ts';

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
