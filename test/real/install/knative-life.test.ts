import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundleCli } from '../../../infra/bundle-cli.ts';
import { findDefinitions } from '../../../infra/functions.ts';
import { servedOf } from '../../../infra/knative/base.ts';
import { nameOf, WATCHER } from '../../../infra/knative/names.ts';
import { tokenOf } from '../../scenarios/identities.ts';
import { SEED, type Stage, startStage } from '../../scenarios/stage.ts';
import { freePorts } from '../cluster/ports.ts';
import { programFolder, type RunningProgram, startProgram } from '../cluster/process.ts';
import { answersOk, waitUntilReady } from '../cluster/ready.ts';
import { onRealApis } from '../on-real-apis.ts';
import { type Activator, startActivator } from './knative/activator.ts';
import { brokerUrl, createBroker } from './knative/broker.ts';
import { type DataPlane, startDataPlane } from './knative/data-plane.ts';
import { liveOneLife } from './life.ts';

onRealApis('on Knative', ({ startApis, fluxDistribution, apis }) => {
  let folder: string;
  let plane: DataPlane;
  let stage: Stage;
  let watcher: RunningProgram | undefined;
  let watcherPorts: number[];
  const functions = new Map<string, Activator>();

  /** Each identity has its own token, with exactly the shipped rights. */
  const argsOf = async (identity: string, ...args: string[]) => {
    const { garden, seed } = apis().servers;
    const [gardenFile, seedFile] = await Promise.all(
      [garden, seed].map((api) => api.kubeconfigFile(tokenOf(identity))),
    );
    return [join(folder, 'shoot-flux.mjs'), ...args, '--garden', `${gardenFile}`, '--seed', `${SEED}=${seedFile}`];
  };

  const startWatcher = async () => {
    const [port, eventsPort] = watcherPorts;
    const args = await argsOf('watcher', 'watch', '--port', `${port}`, '--events-port', `${eventsPort}`);
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
    for (const { name } of servedOf(await findDefinitions())) {
      const settings = ['--flux-distribution', fluxDistribution, '--shoot-access', 'external'];
      const args = await argsOf(name, 'serve', name, ...settings);
      const activator = await startActivator({ name, args, env: { K_SINK: brokerUrl(plane) }, idleMs: 1500 });
      functions.set(name, activator);
      addresses.set(nameOf(name), activator.url);
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
    expect(started, 'instances start again after they were killed or scaled to zero').toBeGreaterThan(functions.size);
  });
});
