import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gitRepositories, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { generateIdentity } from '../../functions/keys/identity.ts';
import { resources } from '../../shared/kube/resource.ts';
import { testDistribution } from '../made-distribution.ts';
import { creating, eventually, PROJECT, SEED, type Stage, startStage } from '../scenarios/stage.ts';
import { operator, type RealApis, startRealApis } from './apis.ts';
import { seedCrds } from './cluster/crds.ts';
import { programFolder, type RunningProgram, startProgram } from './cluster/process.ts';
import { type Dump, dump } from './dump.ts';

const fluxDistribution = await testDistribution();
const isComplete = fluxDistribution !== undefined && seedCrds() !== undefined;
const main = join(import.meta.dirname, '..', '..', 'infra', 'cli', 'main.ts');

/** Milliseconds after each change at which the process is killed: while it starts, reads, writes or waits. */
const moments = [
  [400, 120, 60, 250, 30],
  [900, 30, 250, 60, 500],
];

test.skipIf(isComplete)(testDataMissing, () => {});

describe.skipIf(!isComplete)('shoot-flux run as a process', () => {
  let apis: RealApis;
  let identity: string;
  let undisturbed: Story;

  beforeAll(async () => {
    [apis, identity] = await Promise.all([startRealApis(), generateIdentity('ed25519')]);
  });

  afterAll(async () => {
    await apis?.stop();
  });

  const start = async (): Promise<RunningProgram> => {
    const { garden, seed } = apis.servers;
    const [gardenFile, seedFile] = await Promise.all(
      [garden, seed].map((server) => server.kubeconfigFile(operator.token)),
    );
    const options = ['--garden', gardenFile ?? '', '--seed', `${SEED}=${seedFile}`];
    const args = [main, 'run', ...options, '--flux-distribution', fluxDistribution ?? '', '--log-level', 'debug'];
    const folder = await programFolder('shoot-flux');
    return startProgram({ name: 'shoot-flux', command: process.execPath, args, folder });
  };

  it('installs Flux, and follows changed configuration, changed mode and rotated credentials', async () => {
    undisturbed = await runStory(apis, identity, start, []);
    expect(Object.keys(undisturbed.shoot)).toContain('Kustomization flux-system/main-ks');
    expect(managedResources(undisturbed)).toEqual([
      'shoot-flux-controllers',
      'shoot-flux-crds',
      'shoot-flux-secrets',
      'shoot-flux-sync',
    ]);
  });

  it.each(moments)('reaches the same end state when killed after %i, %i, %i, %i and %i ms', async (...kills) => {
    const { garden, seed, shoot } = await runStory(apis, identity, start, kills);
    expect(garden).toEqual(undisturbed.garden);
    expect(seed).toEqual(undisturbed.seed);
    expect(shoot).toEqual(undisturbed.shoot);
  });
});

interface Story {
  garden: Dump;
  seed: Dump;
  shoot: Dump;
}

const managedResources = ({ seed }: Story) =>
  Object.keys(seed).flatMap((title) => /^ManagedResource .*\/(.+)$/.exec(title)?.[1] ?? []);

const inFlux = (name: string) => ({ namespace: 'flux-system', name });
const config = {
  repositoryUrl: 'ssh://git@github.com/org/fleet',
  repositoryBranch: 'main',
  repositoryType: 'private',
  syncMode: 'Once',
};

/** Runs the same sequence of changes to one Shoot, kills the process after each of the first ones, and returns the end state. */
async function runStory(
  apis: RealApis,
  identity: string,
  start: () => Promise<RunningProgram>,
  kills: number[],
): Promise<Story> {
  const stage = await startStage({ ...apis, stop: apis.forget }, '');
  let program = await start();
  const moments = [...kills];
  const change = async (act: () => Promise<unknown>, until: () => Promise<unknown>) => {
    await act();
    const moment = moments.shift();
    if (moment !== undefined) {
      await sleep(moment);
      await program.stop();
      program = await start();
    }
    await until();
  };
  try {
    const source = { namespace: PROJECT, name: 'flux-source' };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: source, data: { identity: base64(identity) } };
    await stage.garden.create(resources.secrets, secret, { fieldManager: 'person' });
    const first = async () => {
      await stage.setFluxConfig({ ...config, repositoryBranch: 'typo' });
      await stage.reconcileShoot({ status: { lastOperation: creating } });
    };
    await change(first, stage.untilReady);
    await change(
      () => stage.setFluxConfig(config),
      () => untilBranch(stage, 'main'),
    );
    const rotate = () =>
      stage.garden.mergePatch(
        resources.secrets,
        source,
        { data: { password: base64('x') } },
        { fieldManager: 'person' },
      );
    await change(rotate, () => untilRotated(stage));
    await change(
      () => markReady(stage),
      () => untilManaged(stage, 1),
    );
    const reconcile = { ...config, syncMode: 'Reconcile', repositoryBranch: 'other' };
    await change(
      () => stage.setFluxConfig(reconcile),
      () => untilManaged(stage, 4),
    );
    await untilBranch(stage, 'other');
    await markReady(stage);
    await stage.untilReady();
    return await untilGathered(apis);
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n${await program.output()}`, { cause: error });
  } finally {
    await program.stop();
    await stage[Symbol.asyncDispose]();
    await apis.forget();
  }
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

const markReady = (stage: Stage) => stage.markReady([gitRepositories, 'main-gitrepo'], [kustomizations, 'main-ks']);

const untilBranch = (stage: Stage, branch: string) =>
  eventually(
    `branch ${branch}`,
    () => stage.shoot.find(gitRepositories, inFlux('main-gitrepo')),
    (live) => (live?.spec as { ref?: { branch?: string } } | undefined)?.ref?.branch === branch,
    undefined,
    60,
  );

const untilRotated = (stage: Stage) =>
  eventually(
    'the rotated Secret',
    () => stage.shoot.find(resources.secrets, inFlux('flux-source')),
    (live) => (live?.data as Record<string, string> | undefined)?.password !== undefined,
    undefined,
    60,
  );

const untilManaged = (stage: Stage, count: number) =>
  eventually(
    `${count} ManagedResources`,
    async () => Object.keys(await stage.managedResources()),
    (names) => names.length === count,
    undefined,
    60,
  );

/** Waits until nothing changes. */
async function untilGathered({ servers }: RealApis): Promise<Story> {
  const look = async (): Promise<Story> => ({
    garden: await dump(servers.garden),
    seed: await dump(servers.seed),
    shoot: await dump(servers.shoot),
  });
  let before = '';
  return eventually(
    'nothing changes',
    async () => {
      await sleep(3000);
      const story = await look();
      const text = JSON.stringify(story);
      const isSettled = text === before;
      before = text;
      return { story, isSettled };
    },
    ({ isSettled }) => isSettled,
    () => 'changes',
    60,
  ).then(({ story }) => story);
}
