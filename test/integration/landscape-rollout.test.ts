import { mkdtempSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { ABORT, projectSecretNames, SUSPENDED } from '../../shared/config/project-config.ts';
import { readState } from '../../shared/gardener/rollout.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Settings } from '../../shared/runtime/context.ts';
import { Killed } from '../scenarios/killing.ts';
import { type Fleet, type FleetOptions, startFleet } from '../scenarios/rollout/fleet.ts';
import { numericSeed } from '../scenarios/sampling.ts';

const names = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`);
const data = (branch = 'one', parts: Record<string, string> = {}): Record<string, string> => ({
  ...{ repositoryUrl: 'https://git.example.com/fleet', repositoryType: 'public', syncMode: 'Reconcile' },
  ...{ repositoryBranch: branch, ...parts },
});

/** The first Shoot is the canary, and then come the others. */
const waves = [{ name: 'canary', shoots: { matchLabels: { stage: 'canary' } } }];
const rollout: Settings['rollout'] = { waves, pause: '30m', maxInProgress: 2, maxFailed: 0 };
const labels = (shoot: string): Record<string, string> => (shoot === 's0' ? { stage: 'canary' } : {});
const debug: Partial<Settings> = { rollout, defaults: { flux: { logLevel: 'debug' } } };

/** `SHOOT_FLUX_LANDSCAPE=20x150`: so many seeds, and Shoots on each, in the last test, which then prints what it costs. */
const [seeds = 4, perSeed = 8] = process.env.SHOOT_FLUX_LANDSCAPE?.split('x').map(Number) ?? [];

let fleet: Fleet;
afterEach(async () => {
  expect(fleet.failures.filter((failure) => !(failure instanceof Killed))).toEqual([]);
  await fleet[Symbol.asyncDispose]();
});

/** Starts Shoots that have what the operators gave first. */
async function started(options: Partial<FleetOptions> = {}, given: Partial<Settings> = { rollout }): Promise<void> {
  fleet = await startFleet({ labels, shoots: names(6), ...options });
  fleet.given = () => given;
  fleet.edit(data());
  await fleet.settle();
  expect(ready()).toHaveLength(fleet.shoots().length);
}

/** All processes start again with what the operators give them now. */
async function given(settings: Partial<Settings>, seconds: number): Promise<void> {
  fleet.given = () => settings;
  fleet.restart();
  await fleet.pass(seconds);
}

const isDebug = (shoot: string) => JSON.stringify(fleet.controllers(shoot)).includes('--log-level=debug');
const changed = () => fleet.shoots().filter(isDebug);
const ready = () => fleet.shoots().filter((shoot) => fleet.line(shoot)?.startsWith('Ready '));
const state = () => readState(fleet.landscape().LandscapeRolloutState);
const text = () => fleet.landscape().LandscapeRollout;
const applied = (shoot: string) => fleet.extension(shoot).status?.state?.applied;

/** An object that nothing waits for. */
const provider = (name: string) => ({
  kind: 'Provider',
  metadata: { name },
  spec: { type: 'generic', address: 'https://a.example' },
});

describe('what operators change', () => {
  it('reaches the canary, and after the pause the others, never more at a time than may', async () => {
    await started();
    const places: number[] = [];
    fleet.observe = () => places.push(state()?.inProgress.size ?? 0);
    await given(debug, 200);
    expect(changed()).toEqual(['s0']);
    expect(text()).toMatch(/^Revision [0-9a-f]{12} is under way: 1 done, 0 in progress, 5 waiting, 0 failed\.$/);
    await fleet.pass(1500);
    expect(changed()).toEqual(['s0']);
    await fleet.pass(3000);
    expect(changed()).toHaveLength(6);
    expect(text()).toMatch(/has ended: 6 done, 0 in progress, 0 waiting, 0 failed\.$/);
    expect(Math.max(...places)).toBeLessThanOrEqual(2);
    expect(ready()).toHaveLength(6);
  });

  it('includes what an addon brings', async () => {
    const bringing = (...names: string[]) =>
      ({ rollout, addons: { backup: { objects: names.map(provider) } } }) as Partial<Settings>;
    await started({}, bringing('first'));
    fleet.edit(data('one', { addons: 'backup' }));
    await fleet.settle();
    const having = (name: string) =>
      fleet.shoots().filter((shoot) => JSON.stringify(applied(shoot)?.objects).includes(`/${name}"`));
    expect(having('first')).toHaveLength(6);
    await given(bringing('first', 'second'), 200);
    expect(having('second')).toEqual(['s0']);
    await fleet.pass(4500);
    expect(having('second')).toHaveLength(6);
    expect(having('first')).toHaveLength(6);
  });

  it('stops after a canary that fails, and goes back when operators abort it', async () => {
    await started();
    const before = names(6).map((shoot) => applied(shoot)?.managedResources);
    fleet.verdict = (shoot) => (isDebug(shoot) ? 'bad' : 'ready');
    await given(debug, 400);
    expect(changed()).toEqual(['s0']);
    const revision = state()?.revision ?? '';
    expect(text()).toContain(`Revision ${revision} is paused, because more than 0 failed`);
    expect(text()).toContain(
      `annotation flux.extensions.gardener.cloud/continue=${revision}.1 on ConfigMap garden/flux-status`,
    );

    fleet.annotate({ [ABORT]: revision });
    await fleet.pass(800);
    expect(changed()).toEqual([]);
    expect(names(6).map((shoot) => applied(shoot)?.managedResources)).toEqual(before);
    expect(ready()).toHaveLength(6);
    expect(state()?.failed.size).toBe(0);
    // A Shoot that is new meanwhile gets what the others have.
    fleet.create('s6');
    await fleet.pass(200);
    expect(changed()).toEqual([]);
  });

  it('leaves alone what users edit meanwhile, in Shoots that wait and in those that do not', async () => {
    await started();
    fleet.verdict = (shoot) => (isDebug(shoot) ? 'bad' : 'ready');
    await given(debug, 400);
    fleet.edit(data('two'));
    await fleet.pass(200);
    expect([...fleet.branches().values()]).toEqual(names(6).map(() => 'two'));
    expect(changed()).toEqual(['s0']);
    expect(
      new Set(
        names(6)
          .slice(1)
          .map((shoot) => applied(shoot)?.landscape),
      ).size,
    ).toBe(1);
  });

  it('waits for nothing in a Shoot that it does not change', async () => {
    await started({}, { rollout, defaults: { flux: { logLevel: 'info' } } });
    const logLevel = { 'config.yaml': '{ flux: { logLevel: error } }' };
    fleet.edit(data('one', logLevel));
    await fleet.pass(200);
    await given(debug, 200);
    expect(new Set(names(6).map((shoot) => applied(shoot)?.landscape)).size).toBe(1);
    expect(text()).toBeUndefined();
  });

  it('is not paused by what users break in Shoots that have it', async () => {
    await started();
    await given(debug, 1000);
    expect(changed()).toEqual(['s0']);
    fleet.verdict = (shoot) => (shoot === 's0' ? 'bad' : 'ready');
    fleet.edit(data('two'));
    await fleet.pass(6000);
    expect(fleet.status().s0).toMatch(/^Not Ready/);
    expect(changed()).toHaveLength(6);
    expect(state()?.failed.size).toBe(0);
  });

  it('waits for maintenance windows, except where it has failed', async () => {
    const inWindows = { ...rollout, maintenanceWindow: true };
    // They are open for the first hour of the clock.
    const spec = { maintenance: { timeWindow: { begin: '030000+0000', end: '040000+0000' } } };
    await started({ spec }, { rollout: inWindows });
    fleet.verdict = (shoot) => (isDebug(shoot) ? 'bad' : 'ready');
    await given({ ...debug, rollout: inWindows }, 7200);
    expect(changed()).toEqual(['s0']);
    fleet.annotate({ [ABORT]: state()?.revision ?? '' });
    await fleet.pass(200);
    expect(changed()).toEqual([]);
  });

  it('may be paused, and goes on afterwards', async () => {
    await started();
    fleet.annotate({ [SUSPENDED]: 'maintenance of the registry' });
    await given(debug, 800);
    expect(changed()).toEqual([]);
    fleet.annotate({ [SUSPENDED]: null });
    await fleet.pass(5000);
    expect(changed()).toHaveLength(6);
  });

  it('follows the labels of projects and seeds', async () => {
    const bySeed: Settings['rollout'] = {
      waves: [
        { name: 'other projects', projects: { matchLabels: { stage: 'canary' } } },
        { name: 'first seed', seeds: { matchLabels: { seed: 'one' } } },
      ],
    };
    await started({ seeds: ['one', 'two'], labels: () => ({}) }, { rollout: bySeed });
    fleet.project({ stage: 'prod' });
    await given({ ...debug, rollout: bySeed }, 400);
    expect(changed()).toEqual([]);
    await fleet.pass(1300);
    expect(changed()).toEqual(['s0', 's2', 's4']);
    await fleet.pass(3000);
    expect(changed()).toHaveLength(6);
  });

  it('goes in the waves of a project that has its own', async () => {
    const own = { rollout: '{ maxInProgress: 1, maxFailed: 0, order: stage }' };
    const stages = (shoot: string): Record<string, string> => ({ stage: shoot === 's5' ? '1' : '2' });
    fleet = await startFleet({ shoots: names(6), labels: stages });
    fleet.given = () => ({ rollout: { maxInProgress: 5, maxFailed: 0 } });
    fleet.edit(data('one', own));
    await fleet.settle();
    const order: string[] = [];
    const most: number[] = [];
    fleet.observe = () => {
      order.push(...changed().filter((shoot) => !order.includes(shoot)));
      most.push(fleet.state()?.inProgress.size ?? 0);
    };
    await given({ ...debug, rollout: { maxInProgress: 5, maxFailed: 0 } }, 1000);
    expect(order).toHaveLength(6);
    expect(order[0]).toBe('s5');
    expect(Math.max(...most)).toBe(1);
  });
});

describe('another version of shoot-flux', () => {
  /** What renders other objects. */
  const next: Partial<Settings> = { rollout, version: '0.2.0', shootHealth: true };
  const contents = () => names(6).map((shoot) => applied(shoot)?.managedResources);

  /** Seed `one` has the next version, and seed `two` does not. */
  async function startedWithBoth(): Promise<ReturnType<typeof contents>> {
    await started({ seeds: ['one', 'two'] });
    const before = contents();
    fleet.given = (seed) => (seed === 'one' ? next : { rollout });
    fleet.restart();
    await fleet.pass(800);
    return before;
  }

  it('changes nothing in a Shoot before its turn, and nothing on seeds that do not have it yet', async () => {
    const before = await startedWithBoth();
    // The canary is done; the others on its seed follow after the pause, and those on the other one with its new version.
    const isChanged = () => contents().map((one, index) => JSON.stringify(one) !== JSON.stringify(before[index]));
    expect(isChanged()).toEqual([true, false, false, false, false, false]);
    await fleet.pass(3000);
    expect(isChanged()).toEqual([true, false, true, false, true, false]);
    expect(text()).toMatch(
      / is under way: 3 done, 0 in progress, 0 waiting, 0 failed\. Seeds that do not have it yet: two\.$/,
    );
    await given(next, 3000);
    expect(isChanged()).toEqual(names(6).map(() => true));
    expect(text()).toMatch(/ has ended: 6 done, 0 in progress, 0 waiting, 0 failed\.$/);
    expect(ready()).toHaveLength(6);
  });

  it('is taken back by the former one, also while edits go on', async () => {
    const before = await startedWithBoth();
    fleet.edit(data('two'));
    await fleet.pass(100);
    expect([...fleet.branches().values()]).toEqual(names(6).map(() => 'two'));
    fleet.annotate({ [ABORT]: state()?.revision ?? '' });
    await given({ rollout }, 1000);
    fleet.edit(data('one'));
    await fleet.pass(1000);
    expect(contents()).toEqual(before);
    expect(ready()).toHaveLength(6);
  });

  it('that is aborted is not under way any more, also where all seeds have it, and the former one ends it', async () => {
    await started();
    const before = contents();
    await given(next, 800);
    expect(text()).toMatch(/ is under way: 1 done, 0 in progress, 5 waiting, 0 failed\.$/);
    const aborted = state()?.revision ?? '';
    fleet.annotate({ [ABORT]: aborted });
    await fleet.pass(100);
    expect(text()).not.toContain(`Revision ${aborted}`);
    expect(text()).toMatch(/ is under way: 0 done, .+ 0 waiting, .+ Seeds that do not have it yet: one\.$/);
    await given({ rollout }, 1000);
    expect(text()).toMatch(/ has ended: 1 done, 0 in progress, 0 waiting, 0 failed\.$/);
    expect(contents()).toEqual(before);
  });

  it('that is aborted is not under way any more, also where no Shoot differs', async () => {
    await startedWithBoth();
    await fleet.pass(3000);
    expect(text()).toMatch(/ is under way: .+ Seeds that do not have it yet: two\.$/);
    const aborted = state()?.revision ?? '';
    fleet.annotate({ [ABORT]: aborted });
    fleet.wake('s1');
    await fleet.pass(100);
    expect(text()).not.toContain(`Revision ${aborted}`);
    expect(text()).toMatch(/ is under way: 0 done, .+ Seeds that do not have it yet: one\.$/);
  });
});

describe('a new Flux release', () => {
  const fluxVersions = () => fleet.shoots().map((shoot) => applied(shoot)?.fluxVersion);

  it('goes in waves, and abort brings the former one back', async () => {
    const fluxDistribution = await newerRelease();
    await started({}, { rollout });
    fleet.verdict = (shoot) => (applied(shoot)?.fluxVersion === NEWER ? 'bad' : 'ready');
    await given({ rollout, fluxDistribution }, 3000);
    expect(fluxVersions()).toEqual([NEWER, ...names(5).map(() => standInDistribution.version)]);
    fleet.annotate({ [ABORT]: state()?.revision ?? '' });
    await fleet.pass(1000);
    expect(fluxVersions()).toEqual(names(6).map(() => standInDistribution.version));
    expect(ready()).toHaveLength(6);

    // An operation of gardenlet does not bring it again.
    fleet.operate('s1', 'reconcile');
    await fleet.pass(100);
    expect(fluxVersions()).toEqual(names(6).map(() => standInDistribution.version));
  });

  it('is not replaced by an older one that users ask for, when operators change something else', async () => {
    const fluxDistribution = await newerRelease();
    await started({}, { rollout, fluxDistribution });
    fleet.edit(data('one', { fluxVersion: standInDistribution.version }));
    await fleet.pass(100);
    await given({ ...debug, fluxDistribution }, 6000);
    expect(fluxVersions()).toEqual(names(6).map(() => NEWER));
  });
});

describe('a landscape in which more than one thing goes wrong', () => {
  const isAt = (level: string) =>
    fleet.shoots().filter((one) => JSON.stringify(fleet.controllers(one)).includes(level));
  const at = (logLevel: string, more: Partial<Settings> = {}): Partial<Settings> => ({
    ...{ rollout, defaults: { flux: { logLevel } } },
    ...more,
  });
  const free: Settings['rollout'] = { maxInProgress: 2, maxFailed: 0 };

  it('goes back to what worked, when what should correct a bad change is bad as well', async () => {
    await started({}, at('info'));
    fleet.verdict = (shoot) => (isAt('--log-level=info').includes(shoot) ? 'ready' : 'bad');
    for (const level of ['debug', 'error']) {
      await given(at(level), 400);
      expect(isAt(`--log-level=${level}`)).toEqual(['s0']);
      fleet.annotate({ [ABORT]: state()?.revision ?? '' });
      await fleet.pass(800);
      expect(isAt('--log-level=info')).toHaveLength(6);
    }
    // The former configuration is deployed, and the annotation not needed any more.
    await given(at('info'), 100);
    fleet.annotate({ [ABORT]: null });
    await fleet.pass(800);
    expect(isAt('--log-level=info')).toHaveLength(6);
  });

  it('brings a Shoot to a seed that has not the version which it had', async () => {
    await started({ seeds: ['one', 'two'] });
    fleet.given = (seed) => (seed === 'one' ? { rollout, version: '0.2.0' } : { rollout });
    fleet.restart();
    await fleet.pass(200);
    fleet.move('s0', 'two');
    await fleet.pass(200);
    expect(fleet.controllers('s0').length).toBeGreaterThan(0);
    expect(ready()).toHaveLength(6);
  });

  it('changes nothing out of turn where what a Shoot has is not known any more', async () => {
    await started({ seeds: ['one', 'two'] });
    for (let version = 2; version < 12; version++) {
      fleet.given = (seed) => (seed === 'one' ? at('debug', { version: `0.${version}.0` }) : { rollout });
      fleet.restart();
      await fleet.pass(10);
    }
    await fleet.pass(3000);
    expect(changed()).toEqual(['s0', 's2', 's4']);
  });

  it('is not held up by the members of a project', async () => {
    await started({}, at('info', { rollout: free }));
    fleet.setStatus(undefined);
    fleet.foreignStatus({});
    fleet.edit(data(), { [SUSPENDED]: 'incident' });
    await fleet.pass(100);
    await given(at('debug', { rollout: free }), 3000);
    expect(changed()).toHaveLength(6);
    expect(text()).toMatch(/has ended: 6 done, 0 in progress, 0 waiting, 0 failed\.$/);
  });

  it('changes no more Shoots of a project than may fail there', async () => {
    const many: Settings['rollout'] = { maxInProgress: 1, maxFailed: 5 };
    await started({}, at('info', { rollout: many }));
    fleet.edit(data('one', { rollout: '{ maxInProgress: 1, maxFailed: 0 }' }));
    await fleet.pass(100);
    fleet.verdict = (shoot) => (isDebug(shoot) ? 'bad' : 'ready');
    await given(at('debug', { rollout: many }), 3000);
    expect(changed()).toHaveLength(1);
    expect(fleet.status().Rollout).toContain(' is paused, because more than 0 failed');
    // Their next change is a rollout of its own.
    await given(at('error', { rollout: many }), 3000);
    expect(isAt('--log-level=error')).toHaveLength(6);
  });

  it('does not wait for what a project has suspended', async () => {
    await started({}, at('info', { rollout: free }));
    fleet.edit(data(), { [SUSPENDED]: 'incident' });
    await fleet.pass(100);
    await given(at('debug', { rollout: free }), 3000);
    expect(text()).toMatch(/has ended: 6 done, 0 in progress, 0 waiting, 0 failed\.$/);
  });

  it('ends what is aborted before any Shoot was changed', async () => {
    await started();
    fleet.annotate({ [SUSPENDED]: 'a mistake' });
    await given(debug, 200);
    expect(text()).toContain('0 done, 0 in progress, 6 waiting, 0 failed');
    fleet.annotate({ [ABORT]: state()?.revision ?? '' });
    await fleet.pass(200);
    expect(text()).toMatch(/has ended: .*, 0 in progress, 0 waiting, 0 failed\.$/);
    expect(ready()).toHaveLength(6);
  });

  it('reads everything once in a Shoot that waits', async () => {
    await started();
    await given(debug, 400);
    fleet.requests.length = 0;
    fleet.wake('s5');
    await fleet.settle(0);
    const reads = fleet.requests.filter(({ cluster, method }) => cluster === 'garden' && method === 'GET');
    // Its labels are in the seed: what is read is flux-status, flux-config, and the Secrets of the project.
    expect(reads.map(({ resource }) => resource).sort()).toEqual([
      'configmaps',
      'configmaps',
      ...projectSecretNames.map(() => 'secrets'),
    ]);
    expect(isDebug('s5')).toBe(false);
  });

  it('asks rarely while the rollout is suspended from its beginning, and goes on at once afterwards', async () => {
    await started({}, at('info', { rollout: free }));
    fleet.annotate({ [SUSPENDED]: 'maintenance of the registry' });
    await given(at('debug', { rollout: free }), 7200);
    fleet.requests.length = 0;
    await fleet.pass(3600);
    const looks = fleet.requests.filter(
      ({ method, resource }) => method === 'GET' && resource.startsWith('extensions.'),
    );
    expect(looks.length).toBeLessThan(60);
    expect(changed()).toEqual([]);
    fleet.annotate({ [SUSPENDED]: null });
    await fleet.pass(300);
    expect(changed()).toHaveLength(6);
  });
});

describe(`a landscape of ${seeds} seeds with ${perSeed} Shoots each, whose processes are killed at random`, {
  timeout: seeds * perSeed * 20_000,
}, () => {
  const all = names(seeds * perSeed);
  const most = Math.ceil(all.length / 100) + 2;
  const stageOf = (shoot: string) => ['canary', 'early'][Number(shoot.slice(1)) % 10] ?? '';
  const order = ['canary', 'early'].map((stage) => ({ name: stage, shoots: { matchLabels: { stage } } }));
  const many: Settings['rollout'] = { waves: order, pause: '5m', maxInProgress: most, maxFailed: 1 };

  it('gets a bad release in its canaries alone, goes back, and gets a good change wave by wave', async () => {
    const figures = measured(all.length);
    await started(
      {
        ...{ shoots: all, labels: (shoot) => ({ stage: stageOf(shoot) }), parallel: seeds },
        seeds: names(seeds).map((name) => `seed-${name}`),
        projects: names(Math.ceil(all.length / 100)),
      },
      { rollout: many },
    );
    figures('created');
    const deaths = killedAtRandom();

    /** What has changed in each Shoot, and in how many of each stage. */
    const has = new Set<string>();
    const left: Record<string, number> = {};
    const wrong: string[] = [];
    let isChanged = (_shoot: string) => false;
    let seen: string | undefined;
    const judge = (by: (shoot: string) => boolean) => {
      isChanged = by;
      has.clear();
      for (const stage of ['canary', 'early', '']) left[stage] = all.filter((one) => stageOf(one) === stage).length;
    };
    fleet.observe = (shoot) => {
      const written = fleet.landscape().LandscapeRolloutState;
      const places = written === seen ? 0 : (readState(written)?.inProgress.size ?? 0);
      if (places > most) wrong.push(`${places} places`);
      seen = written;
      if (shoot === undefined || has.has(shoot) || !isChanged(shoot)) return;
      has.add(shoot);
      const stage = stageOf(shoot);
      left[stage] = (left[stage] ?? 0) - 1;
      const before = { canary: 0, early: left.canary, '': (left.canary ?? 0) + (left.early ?? 0) }[stage];
      if (before !== 0) wrong.push(`${shoot} before ${before} others`);
    };

    const fluxDistribution = await newerRelease();
    const isBad = (shoot: string) => applied(shoot)?.fluxVersion === NEWER;
    judge(isBad);
    fleet.verdict = (shoot) => (isBad(shoot) ? 'bad' : 'ready');
    // Each death costs runs of all Shoots of a seed, and few Shoots are written to.
    deaths.chance = 50 / (500 + all.length);
    await given({ rollout: many, fluxDistribution }, 600);
    figures(`bad release, ${deaths.count} deaths`);
    const bad = all.filter(isBad);
    expect(bad.length).toBeGreaterThan(1);
    expect(bad.map(stageOf)).toEqual(bad.map(() => 'canary'));
    expect(text()).toContain(' is paused, because more than 1 failed');
    fleet.annotate({ [ABORT]: state()?.revision ?? '' });
    await fleet.pass(600);
    figures(`aborted, ${deaths.count} deaths`);
    expect(deaths.count).toBeGreaterThan(0);
    expect(new Set(all.map((shoot) => applied(shoot)?.fluxVersion))).toEqual(new Set([standInDistribution.version]));

    judge(isDebug);
    deaths.chance = 3 / (20 + all.length);
    await given({ ...debug, rollout: many }, 0);
    const isOver = () => text()?.includes(`has ended: ${all.length} done`) === true;
    for (let hours = 0; hours < 48 && !isOver(); hours += 0.25) {
      await fleet.pass(900);
      figures(`good change after ${hours + 0.25} h, ${deaths.count} deaths`);
    }
    expect(text()).toMatch(new RegExp(`has ended: ${all.length} done, 0 in progress, 0 waiting, 0 failed\\.$`));
    expect(changed()).toHaveLength(all.length);
    expect(wrong).toEqual([]);
    expect(deaths.count).toBeGreaterThan(10);
  });
});

/** Kills the process of a seed at its writes, before or after them, with a chance that the test sets. */
function killedAtRandom() {
  const random = prand(numericSeed);
  const deaths = { count: 0, chance: 0 };
  fleet.wrap = (client, run) => {
    const died = () => {
      deaths.count++;
      fleet.restart(`seed-s${Number(run.split(' s')[1]) % seeds}`);
      return new Killed();
    };
    const dies =
      <T>(write: (...args: never[]) => Promise<T>) =>
      async (...args: never[]) => {
        const drawn = random();
        if (drawn < deaths.chance / 2) throw died();
        const written = await write(...args);
        if (drawn < deaths.chance) throw died();
        return written;
      };
    return {
      ...client,
      mergePatch: dies(client.mergePatch),
      apply: dies(client.apply),
      create: dies(client.create),
    } as KubeClient;
  };
  return deaths;
}

/** Prints what a part of the life has cost, where a size is asked for. */
function measured(shoots: number): (part: string) => void {
  let [wall, cpu] = [performance.now(), process.cpuUsage()];
  return (part) => {
    const { user, system } = process.cpuUsage(cpu);
    const inGarden = fleet.requests.filter(({ cluster }) => cluster === 'garden');
    const ofStatus = inGarden.filter(({ resource, method }) => resource === 'configmaps' && method === 'PATCH');
    const conflicts = ofStatus.filter(({ status }) => status === 409).length;
    const line = [
      `${part}: ${((performance.now() - wall) / 1000).toFixed(0)} s, ${((user + system) / 1e6).toFixed(0)} s CPU`,
      `${(inGarden.length / shoots).toFixed(1)} requests to the garden for each Shoot`,
      `${ofStatus.length} writes of its ConfigMaps, ${conflicts} of them overtaken`,
      `flux-status ${(JSON.stringify(fleet.landscape()).length / 1024).toFixed(0)} KiB`,
      `${(process.memoryUsage.rss() / 1024 ** 2).toFixed(0)} MB resident`,
    ];
    if (process.env.SHOOT_FLUX_LANDSCAPE) process.stderr.write(`${line.join('; ')}\n  ${text() ?? 'no rollout yet'}\n`);
    fleet.requests.length = 0;
    [wall, cpu] = [performance.now(), process.cpuUsage()];
  };
}

/** Returns a generator of numbers from 0 to 1, always the same ones for a seed. */
function prand(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const NEWER = 'v2.9.100';

/** Returns a folder with the stand-in release and a newer one. */
async function newerRelease(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'newer-release-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { folder: standIns, version } = standInDistribution;
  for (const name of [version, NEWER]) await cp(join(standIns, version), join(folder, name), { recursive: true });
  return folder;
}
