import { afterEach, describe, expect, it } from 'vitest';
import { Killed, killing } from '../scenarios/killing.ts';
import { type Fleet, type FleetOptions, startFleet } from '../scenarios/rollout/fleet.ts';

const overrides = '[{ selector: { matchLabels: { stage: dev } }, config: { flux: { logLevel: debug } } }]';
const data = (branch: string, rollout?: string) => ({
  ...{ repositoryUrl: 'https://git.example.com/fleet', repositoryType: 'public', syncMode: 'Reconcile' },
  ...{ 'overrides.yaml': overrides, repositoryBranch: branch, ...(rollout !== undefined && { rollout }) },
});
const names = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`);

let fleet: Fleet;
/** The most Shoots that had the branch and no verdict, and the most places that were taken. */
let most: { unjudged: number; places: number };
afterEach(() => fleet?.[Symbol.asyncDispose]());

/** Starts a fleet in which each Shoot has the branch `one`. */
async function started(rollout: string | undefined, options: FleetOptions): Promise<void> {
  fleet = await startFleet(options);
  fleet.edit(data('one', rollout));
  await fleet.settle();
  expect(countOf('one')).toBe(options.shoots.length);
}

/** Edits the branch, and measures until the fleet comes to rest. */
async function edited(branch: string, rollout: string, seconds?: number): Promise<void> {
  most = { unjudged: 0, places: 0 };
  fleet.observe = () => {
    most.unjudged = Math.max(most.unjudged, fleet.unjudged(branch).length);
    most.places = Math.max(most.places, fleet.state()?.inProgress.size ?? 0);
  };
  fleet.edit(data(branch, rollout));
  await fleet.settle(seconds);
}

const countOf = (branch: string) => [...fleet.branches().values()].filter((one) => one === branch).length;
const text = () => fleet.status().Rollout;
/** What the override of the project says for Shoots of the stage `dev`. */
const isDebug = (shoot: string) => JSON.stringify(fleet.controllers(shoot)).includes('--log-level=debug');

describe('forty Shoots of one project with overrides and waves', () => {
  it('a bad edit stops after maxFailed, and a good one reaches all', async () => {
    const rollout = '{ maxInProgress: 10%, maxFailed: 5% }';
    const labels = (shoot: string): Record<string, string> => (shoot.endsWith('7') ? { stage: 'dev' } : {});
    await started(rollout, { shoots: names(40), labels });
    expect(names(20).filter(isDebug)).toEqual(['s7', 's17']);

    fleet.verdict = (_, branch) => (branch === 'bad' ? 'bad' : 'ready');
    await edited('bad', rollout);
    const broken = countOf('bad');
    // Two may fail; with the third, others were in progress already.
    expect(broken).toBeGreaterThan(2);
    expect(broken).toBeLessThanOrEqual(2 + 4);
    expect(most.places).toBe(4);
    expect(most.unjudged).toBeLessThanOrEqual(4);
    expect(fleet.lies()).toEqual([]);
    expect(countOf('one')).toBe(40 - broken);
    expect(text()).toMatch(/^Revision [0-9a-f]{12} is paused, because more than 2 failed: 0 done, 0 in progress, /);
    expect(text()).toContain(`waiting, ${broken} failed (`);
    expect(fleet.status().Summary).toBe(`${40 - broken} Ready, 0 progressing, ${broken} not Ready of 40 Shoots`);

    await edited('two', rollout);
    expect(countOf('two')).toBe(40);
    expect(most.places).toBeLessThanOrEqual(4);
    expect(most.unjudged).toBeLessThanOrEqual(4);
    // Several are changed at the same time: the limits are not kept by going one by one.
    expect(most.places).toBe(4);
    expect(most.unjudged).toBeGreaterThan(1);
    expect(text()).toMatch(/has ended: 40 done, 0 in progress, 0 waiting, 0 failed\.$/);
    expect(fleet.lies()).toEqual([]);
    for (const shoot of ['s6', 's7', 's8', 's37', 's38'])
      expect([shoot, isDebug(shoot)]).toEqual([shoot, shoot.endsWith('7')]);
    expect(fleet.status().Summary).toBe('40 Ready, 0 progressing, 0 not Ready of 40 Shoots');
    expect(fleet.failures).toEqual([]);
  });
});

describe('a rollout', () => {
  const rollout = '{ maxInProgress: 2, maxFailed: 1 }';

  it('is nothing to a project without one: no request is about it', async () => {
    await started(undefined, { shoots: names(3) });
    const found: string[] = [];
    fleet.wrap = (client, run) => ({
      ...client,
      find: (resource, name, options) => {
        if (run.startsWith('managed-resources')) found.push(name.name);
        return client.find(resource, name, options) as never;
      },
    });
    fleet.edit(data('two'));
    await fleet.settle();
    expect(countOf('two')).toBe(3);
    expect(found).toContain('flux-config');
    expect(found).not.toContain('flux-status');
    expect(Object.keys(fleet.status()).sort()).toEqual(['Summary', 's0', 's1', 's2']);
    expect(fleet.extension('s0').status?.state?.applied).not.toHaveProperty('revision');
  });

  it('waits where the garden refuses to create flux-status, says why, and begins once a member has created it', async () => {
    await started(rollout, { shoots: names(6), installation: 'extension-shoot-flux-x7k2p' });
    fleet.requests.length = 0;
    await edited('two', rollout);
    expect(countOf('one')).toBe(6);
    expect(fleet.failures).toEqual([]);
    const { lastError, state } = fleet.extension('s0').status ?? {};
    expect(lastError).toBeFalsy();
    expect(state?.applied?.problem).toBe(
      'The last applied configuration is kept until flux-status can hold the rollout: ConfigMap garden-foo/flux-status cannot be created, because the admission webhook seed-restriction.gardener.cloud denies it; create it with `kubectl create configmap flux-status --namespace garden-foo` and label it with `kubectl label configmap flux-status --namespace garden-foo app.kubernetes.io/managed-by=gardener-extension-shoot-flux`. ' +
        'Once the operators of this landscape have upgraded the shoot-flux chart, shoot-flux has its own account in the garden and can create it itself.',
    );
    // Neither a loop nor an end: each Shoot checks again after minutes.
    let attempts = 0;
    fleet.wrap = (client) => {
      const apply: typeof client.apply = (...args) => {
        attempts++;
        return client.apply(...args);
      };
      return { ...client, apply };
    };
    for (let minute = 0; minute < 60; minute++) {
      fleet.now += 60;
      await fleet.settle(10);
    }
    expect(attempts).toBeGreaterThanOrEqual(6 * 11);
    expect(attempts).toBeLessThanOrEqual(6 * 15);
    expect(countOf('one')).toBe(6);

    fleet.foreignStatus({}, { 'app.kubernetes.io/managed-by': 'gardener-extension-shoot-flux' });
    fleet.verdict = () => 'silent';
    fleet.follow();
    await fleet.settle();
    const waiting = [...(fleet.state()?.waiting.keys() ?? [])];
    expect(waiting).toHaveLength(4);
    for (const shoot of waiting) expect(fleet.extension(shoot).status?.state?.applied).not.toHaveProperty('problem');
    fleet.verdict = () => 'ready';
    fleet.follow();
    await fleet.settle();
    expect(countOf('two')).toBe(6);
    expect(most.places).toBe(2);
    expect(text()).toMatch(/has ended: 6 done, 0 in progress, 0 waiting, 0 failed\.$/);
    expect(fleet.extension('s0').status?.state?.applied).not.toHaveProperty('problem');
    expect(fleet.failures).toEqual([]);
  });

  it('that is added or changed without another edit begins nothing', async () => {
    await started(undefined, { shoots: names(2) });
    fleet.edit(data('one', rollout));
    await fleet.settle();
    expect(text()).toBeUndefined();
    expect(fleet.extension('s0').status?.state?.applied?.revision).toMatch(/^[0-9a-f]{12}$/);
  });

  it('spans seeds, each with a shoot-flux of its own', async () => {
    await started(rollout, { shoots: names(8), seeds: ['one', 'two'] });
    await edited('two', rollout, 200);
    expect(countOf('two')).toBe(8);
    expect(most.places).toBe(2);
    expect(text()).toMatch(/has ended: 8 done/);
  });

  it('does not wait for Shoots that sleep, and gives those up that are never heard of', async () => {
    const narrow = '{ maxInProgress: 1, maxFailed: 2 }';
    await started(narrow, { shoots: names(6) });
    const silent = ['s1', 's2'];
    fleet.verdict = (shoot, branch) => (branch === 'two' && silent.includes(shoot) ? 'silent' : 'ready');
    fleet.shoot('s0', { spec: { hibernation: { enabled: true } } });
    await edited('two', narrow, 1000);
    expect([...fleet.branches()].filter(([, branch]) => branch === 'one').map(([shoot]) => shoot)).toEqual(['s0']);
    const { failed = new Set(), inProgress = new Map() } = fleet.state() ?? {};
    expect(failed.size).toBeGreaterThan(0);
    expect([...failed, ...inProgress.keys()].sort()).toEqual(silent);

    fleet.shoot('s0', { spec: { hibernation: { enabled: false } } });
    await fleet.settle(1000);
    expect(countOf('two')).toBe(6);
  });

  it('brings rotated Secrets of the project to Shoots that wait, wherever a run is killed', async () => {
    fleet = await startFleet({ shoots: names(8) });
    const region = (shoot: string) => {
      const copy = fleet.copies(shoot).find(({ metadata }) => metadata.name === 'flux-variables');
      return Buffer.from((copy?.data as Record<string, string>)?.region ?? '', 'base64').toString();
    };
    fleet.secret('flux-variables', { region: 'north' });
    fleet.edit(data('one', rollout));
    await fleet.settle();
    fleet.verdict = (_, branch) => (branch === 'two' ? 'bad' : 'ready');
    await edited('two', rollout);
    const before = fleet.branches();
    expect([...before.values()].filter((branch) => branch === 'one').length).toBeGreaterThan(4);

    const death = killing(() => fleet.restart());
    fleet.wrap = (client) => death.wrap(client);
    for (const last of [0, 1, 4, 8, 16, 32]) {
      death.arm(last, true);
      fleet.secret('flux-variables', { region: `south-${last}` });
      await fleet.settle(100);
      expect(new Set(names(8).map(region)), `killed after ${last}`).toEqual(new Set([`south-${last}`]));
    }
    expect(death.kills()).toBe(5);
    expect(fleet.failures.filter((failure) => !(failure instanceof Killed))).toEqual([]);
    expect(fleet.branches()).toEqual(before);
    expect(text()).toContain('is paused, because more than 1 failed');
  });

  it('goes on when a member deletes or damages flux-status, which is rebuilt', async () => {
    await started(rollout, { shoots: names(6) });
    // Each is done at the third change after the one before, once flux-status has the state: which change that is depends on
    // the order in which the runs end.
    const damages = [undefined, { RolloutState: '{"version":1}', s0: 'nonsense' }];
    let changes = 0;
    fleet.edit(data('two', rollout));
    fleet.observe = () => {
      changes++;
      if (changes < 3 || damages.length === 0 || fleet.state() === undefined) return;
      changes = 0;
      fleet.setStatus(damages.shift());
    };
    await fleet.settle(1000);
    expect(damages).toEqual([]);
    expect(countOf('two')).toBe(6);
    expect(text()).toContain(' 0 in progress, 0 waiting, 0 failed.');
  });

  it('leaves a ConfigMap of others alone, and then changes nothing', async () => {
    await started(rollout, { shoots: names(2) });
    fleet.setStatus(undefined);
    fleet.foreignStatus({ note: 'ours' });
    fleet.edit(data('two', rollout));
    await fleet.settle();
    expect(countOf('one')).toBe(2);
    expect(fleet.status()).toEqual({ note: 'ours' });
  });
});
