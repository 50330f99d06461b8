import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { bundleCli } from '../../../infra/bundle/bundle-cli.ts';
import { knativeManifests, WATCHER } from '../../../infra/knative/manifests.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { tokenOf } from '../../scenarios/identities.ts';
import { SEED, type Stage, startStage } from '../../scenarios/stage.ts';
import { freePorts } from '../cluster/ports.ts';
import { programFolder, type RunningProgram, startProgram } from '../cluster/process.ts';
import { answersOk, waitUntilReady } from '../cluster/start.ts';
import { onRealApis } from '../on-real-apis.ts';
import { refused } from '../rights.ts';
import { type Activator, startActivator } from './knative/activator.ts';
import { brokerUrl, createBroker, manifest } from './knative/broker.ts';
import { type DataPlane, startDataPlane } from './knative/data-plane.ts';
import { liveOneLife } from './life.ts';

onRealApis('on Knative', ({ startApis, fluxDistribution, apis }) => {
  let folder: string;
  let plane: DataPlane;
  let stage: Stage;
  let watcher: RunningProgram | undefined;
  let watcherPorts: number[];
  let exampleConfig: Record<string, unknown>;
  const functions = new Map<string, Activator>();

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

  const startWatcher = async () => {
    const [port, eventsPort] = watcherPorts;
    const [deployment] = (await manifest('watcher')) as [KubeObject];
    const given = await argsOf('watcher', deployment);
    const args = given.map((arg) => (arg === '8080' ? `${port}` : arg === '8081' ? `${eventsPort}` : arg));
    const env = { K_SINK: brokerUrl(plane) };
    const own = await programFolder('watch');
    watcher = await startProgram({ name: 'watch', command: process.execPath, args, env, folder: own });
    await waitUntilReady('watch', watcher, () => answersOk(`http://127.0.0.1:${port}/healthz`));
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shoot-flux-cli-'));
    await bundleCli(folder);
    stage = await startStage(await startApis(), fluxDistribution);
    plane = await startDataPlane(apis().servers.garden);
    watcherPorts = await freePorts(2);
    const addresses = new Map([[WATCHER, `http://127.0.0.1:${watcherPorts[1]}/`]]);
    exampleConfig = parse((await knativeManifests())['overlays/example/config.yaml'] ?? '');
    for (const service of await manifest('services')) {
      const name = service.metadata.labels?.['app.kubernetes.io/component'] ?? '';
      const args = await argsOf(name, service);
      const activator = await startActivator({ name, args, env: { K_SINK: brokerUrl(plane) }, idleMs: 1500 });
      functions.set(name, activator);
      addresses.set(service.metadata.name, activator.url);
    }
    await createBroker(plane, (service) => addresses.get(service) ?? '');
    await startWatcher();
  });

  afterAll(async () => {
    await watcher?.stop();
    for (const activator of functions.values()) await activator[Symbol.asyncDispose]();
    await stage?.[Symbol.asyncDispose]();
    await plane?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  it('a Shoot lives its life, while instances scale to zero and are killed in the middle', async () => {
    let kills = 0;
    const steps = await liveOneLife(stage, {
      seconds: 90,
      async disturb(step) {
        await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 600));
        for (const activator of functions.values()) {
          const instance = activator.instance();
          if (instance === undefined || instance.ended) continue;
          process.kill(instance.pid, 'SIGKILL');
          kills++;
        }
        if (step === 'config change' || step === 'migrate') {
          await watcher?.stop();
          await startWatcher();
        }
      },
    }).catch(async (error: unknown) => {
      const outputs = [...functions.values()].map((activator) => activator.output());
      const said = await Promise.all([watcher?.output(), plane.output(), ...outputs]);
      throw new Error(`${error}\n${said.join('\n')}`, { cause: error });
    });
    expect(steps).toContain('remove');
    expect(kills).toBeGreaterThan(0);
    const counts = [...functions.values()].map((activator) => activator.counts);
    const started = counts.reduce((sum, { started }) => sum + started, 0);
    const drained = counts.reduce((sum, { drained }) => sum + drained, 0);
    expect(drained, 'instances end in time after SIGTERM').toBeGreaterThan(0);
    expect(started, 'instances start again after they were killed or scaled to zero').toBeGreaterThan(functions.size);
    expect(await refused(apis().servers)).toEqual([]);
  });
});
