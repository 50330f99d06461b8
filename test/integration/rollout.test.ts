import { afterEach, describe, expect, it } from 'vitest';
import { SUSPENDED } from '../../shared/config/project-config.ts';
import { CHANGE_SECONDS } from '../../shared/gardener/rollout.ts';
import { textAt } from '../../shared/shapes.ts';
import { Killed, killing } from '../scenarios/killing.ts';
import { type Fleet, type FleetOptions, startFleet } from '../scenarios/rollout/fleet.ts';

const overrides = '[{ selector: { matchLabels: { stage: dev } }, config: { flux: { logLevel: debug } } }]';
const data = (branch: string, rollout?: string): Record<string, string> => ({
  ...{ repositoryUrl: 'https://git.example.com/fleet', repositoryType: 'public', syncMode: 'Reconcile' },
  ...{ 'overrides.yaml': overrides, repositoryBranch: branch, ...(rollout !== undefined && { rollout }) },
});
const names = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`);
const one = '{ maxInProgress: 1, maxFailed: 0 }';
const two = '{ maxInProgress: 2, maxFailed: 1 }';

let fleet: Fleet;
/** The most Shoots at the same time that had an edit and no verdict about it, and the most places that were taken. */
let most: { unjudged: number; places: number };
afterEach(async () => {
  expect(fleet.failures).toEqual([]);
  await fleet[Symbol.asyncDispose]();
});

/** Starts a fleet in which each Shoot has the branch `one`, and watches the limits from then on. */
async function started(rollout: string | undefined, options: Partial<FleetOptions> = {}): Promise<void> {
  const { shoots = names(6), later = [] } = options;
  fleet = await startFleet({ ...options, shoots });
  fleet.edit(data('one', rollout));
  await fleet.settle();
  expect(withBranch('one')).toHaveLength(shoots.length - later.length);
  most = { unjudged: 0, places: 0 };
  fleet.observe = () => {
    const open = ['two', 'three', 'bad'].flatMap((branch) => fleet.unjudged(branch));
    most.unjudged = Math.max(most.unjudged, open.length);
    most.places = Math.max(most.places, fleet.state()?.inProgress.size ?? 0);
  };
}

/** Edits the branch, and measures until the fleet comes to rest. */
async function edited(branch: string, rollout: string, seconds?: number): Promise<void> {
  most = { unjudged: 0, places: 0 };
  fleet.edit(data(branch, rollout));
  await fleet.settle(seconds);
}

/** Edits the branch to `two`, of which nothing is heard once so many Shoots are Ready with it. */
async function stalled(rollout: string, after: number): Promise<void> {
  const heard = new Set<string>();
  fleet.verdict = (shoot, branch) => {
    if (branch === 'two' && heard.size < after) heard.add(shoot);
    return branch === 'two' && !heard.has(shoot) ? 'silent' : 'ready';
  };
  fleet.edit(data('two', rollout));
  await fleet.settle();
  expect(withBranch('two').length).toBeGreaterThan(after);
  expect(withBranch('one').length).toBeGreaterThan(0);
}

const withBranch = (branch: string) =>
  [...fleet.branches()].filter(([, other]) => other === branch).map(([shoot]) => shoot);
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
    const broken = withBranch('bad').length;
    // Two may fail; with the third, others were in progress already.
    expect(broken).toBeGreaterThan(2);
    expect(broken).toBeLessThanOrEqual(2 + 4);
    expect(most.places).toBe(4);
    expect(most.unjudged).toBeLessThanOrEqual(4);
    expect(fleet.lies()).toEqual([]);
    expect(withBranch('one')).toHaveLength(40 - broken);
    expect(text()).toMatch(/^Revision [0-9a-f]{12} is paused, because more than 2 failed: 0 done, 0 in progress, /);
    expect(text()).toContain(`waiting, ${broken} failed (`);
    expect(fleet.status().Summary).toBe(`${40 - broken} Ready, 0 progressing, ${broken} not Ready of 40 Shoots`);

    await edited('two', rollout);
    expect(withBranch('two')).toHaveLength(40);
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
  });
});

/** What the root Kustomization of a Shoot gets. */
const targetNamespaceOf = (shoot: string) => {
  const kustomization = fleet.synced(shoot).find(({ kind }) => kind === 'Kustomization');
  return textAt(kustomization, 'spec', 'targetNamespace');
};

it('a targetNamespace that nobody wrote is kept in waves, and goes in waves', async () => {
  fleet = await startFleet({ shoots: names(6) });
  fleet.edit({ ...data('one', two), kustomizationTargetNamespace: 'default' });
  await fleet.settle();
  for (const shoot of names(6)) fleet.ageRecord(shoot);
  const lost = new Set<string>();
  fleet.observe = () => {
    for (const shoot of names(6)) if (targetNamespaceOf(shoot) !== 'default') lost.add(shoot);
  };
  // One fails more than may: the rest waits with the former revision.
  fleet.verdict = (shoot, branch) => (branch === 'two' && shoot !== 's5' ? 'bad' : 'ready');
  fleet.edit(data('two', one));
  await fleet.settle();
  expect(withBranch('one').length).toBeGreaterThan(0);
  expect(withBranch('two').length).toBeGreaterThan(0);
  fleet.verdict = () => 'ready';
  fleet.edit(data('three', two));
  await fleet.settle();
  expect(withBranch('three')).toHaveLength(6);
  expect([...lost]).toEqual([]);
  expect(fleet.extension('s0').status?.state?.applied?.keepsNamespace).toBe(true);

  most = { unjudged: 0, places: 0 };
  fleet.observe = () => {
    const open = names(6)
      .filter((shoot) => targetNamespaceOf(shoot) === undefined)
      .filter((shoot) => fleet.unjudged('three').includes(shoot));
    most.unjudged = Math.max(most.unjudged, open.length);
  };
  fleet.edit({ ...data('three', one), kustomizationTargetNamespace: 'none' });
  await fleet.settle();
  expect(names(6).map(targetNamespaceOf)).toEqual(names(6).map(() => undefined));
  expect(most.unjudged).toBe(1);
});

describe('a rollout', () => {
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
    expect(withBranch('two')).toHaveLength(3);
    expect(found).toContain('flux-config');
    expect(found).not.toContain('flux-status');
    expect(Object.keys(fleet.status()).sort()).toEqual(['Summary', 's0', 's1', 's2']);
    expect(fleet.extension('s0').status?.state?.applied).not.toHaveProperty('revision');
  });

  it('waits where the garden refuses to create flux-status, says why, and begins once a member has created it', async () => {
    await started(two, { installation: 'extension-shoot-flux-x7k2p' });
    await edited('two', two);
    const { lastError, state } = fleet.extension('s0').status ?? {};
    expect(lastError).toBeFalsy();
    expect(state?.applied?.problem).toContain('ConfigMap garden-foo/flux-status cannot be created, because ');
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
    expect(withBranch('one')).toHaveLength(6);

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
    expect(withBranch('two')).toHaveLength(6);
    expect(most.places).toBe(2);
    expect(fleet.extension('s0').status?.state?.applied).not.toHaveProperty('problem');
  });

  it('that is added or changed without another edit begins nothing', async () => {
    await started(undefined, { shoots: names(2) });
    fleet.edit(data('one', two));
    await fleet.settle();
    expect(text()).toBeUndefined();
    expect(fleet.extension('s0').status?.state?.applied?.revision).toMatch(/^[0-9a-f]{12}$/);
  });

  it('spans seeds, each with a shoot-flux of its own', async () => {
    await started(two, { shoots: names(8), seeds: ['one', 'two'] });
    await edited('two', two, 200);
    expect(withBranch('two')).toHaveLength(8);
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
    expect(withBranch('two')).toHaveLength(6);
  });

  it('brings rotated Secrets of the project to Shoots that wait, wherever a run is killed', async () => {
    fleet = await startFleet({ shoots: names(8) });
    const region = (shoot: string) => {
      const copy = fleet.copies(shoot).find(({ metadata }) => metadata.name === 'flux-variables');
      return Buffer.from((copy?.data as Record<string, string>)?.region ?? '', 'base64').toString();
    };
    fleet.secret('flux-variables', { region: 'north' });
    fleet.edit(data('one', two));
    await fleet.settle();
    fleet.verdict = (_, branch) => (branch === 'two' ? 'bad' : 'ready');
    await edited('two', two);
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
    const killed = fleet.failures.splice(0);
    expect(killed.filter((failure) => !(failure instanceof Killed))).toEqual([]);
    expect(fleet.branches()).toEqual(before);
    expect(text()).toContain('is paused, because more than 1 failed');
  });

  it('goes on when a member deletes or damages flux-status, which is rebuilt', async () => {
    await started(two, { shoots: names(6) });
    // Each is done at the third change after the one before, once flux-status has the state: which change that is depends on
    // the order in which the runs end.
    const damages = [undefined, { RolloutState: '{"version":1}', s0: 'nonsense' }];
    let changes = 0;
    fleet.edit(data('two', two));
    fleet.observe = () => {
      changes++;
      if (changes < 3 || damages.length === 0 || fleet.state() === undefined) return;
      changes = 0;
      fleet.setStatus(damages.shift());
    };
    await fleet.settle(1000);
    expect(damages).toEqual([]);
    expect(withBranch('two')).toHaveLength(6);
    expect(text()).toContain(' 0 in progress, 0 waiting, 0 failed.');
  });

  it('leaves a ConfigMap of others alone, and then changes nothing', async () => {
    await started(two, { shoots: names(2) });
    fleet.setStatus(undefined);
    fleet.foreignStatus({ note: 'ours' });
    fleet.edit(data('two', two));
    await fleet.settle();
    expect(withBranch('one')).toHaveLength(2);
    expect(fleet.status()).toEqual({ note: 'ours' });
  });
});

describe('an edit that is not valid, during a rollout', () => {
  it('does not count as a failure of the edit before, nor before the next edit', async () => {
    await started(one);
    await stalled(one, 2);
    fleet.edit({ ...data('two', one), repositoryBranchh: 'typo' });
    await fleet.settle(400);
    expect(fleet.status().Summary).toBe('0 Ready, 0 progressing, 6 not Ready of 6 Shoots');
    expect(text()).toContain(' is under way: 2 done, 1 in progress, 3 waiting, 0 failed.');
    fleet.verdict = (_, branch) => (branch === 'bad' ? 'bad' : 'ready');
    fleet.edit(data('bad', one));
    await fleet.settle(200);
    expect(withBranch('bad')).toHaveLength(1);
    expect(text()).toContain(' is paused, because more than 0 failed: 0 done, 0 in progress, 5 waiting, 1 failed (');
    expect(fleet.lies()).toEqual([]);
  });
});

describe('a rollout that is taken back', () => {
  it('leaves no failure behind where the next edit takes it back', async () => {
    await started(one);
    await stalled(one, 0);
    fleet.verdict = () => 'ready';
    fleet.edit(data('one', one));
    await fleet.settle(2 * CHANGE_SECONDS);
    expect(withBranch('one')).toHaveLength(6);
    expect(text()).toMatch(/ 0 in progress, 0 waiting, 0 failed\.$/);
    expect(fleet.lies()).toEqual([]);
  });

  it('ends when the key is removed: all Shoots follow, and flux-status says nothing more about it', async () => {
    await started(one);
    await stalled(one, 2);
    fleet.verdict = () => 'ready';
    fleet.edit(data('two'));
    await fleet.settle(100);
    expect(withBranch('two')).toHaveLength(6);
    expect(Object.keys(fleet.status()).sort()).toEqual(['Summary', ...names(6)]);
    expect(fleet.lies()).toEqual([]);

    most = { unjudged: 0, places: 0 };
    fleet.edit(data('three', one));
    await fleet.settle(100);
    expect(withBranch('three')).toHaveLength(6);
    expect(most.unjudged).toBe(1);
    expect(text()).toMatch(/ has ended: 6 done, 0 in progress, 0 waiting, 0 failed\.$/);
  });

  it('stands still while flux-config is deleted, and continues with it', async () => {
    await started(one);
    await stalled(one, 2);
    const before = fleet.branches();
    fleet.edit(undefined);
    await fleet.settle(100);
    expect(fleet.branches()).toEqual(before);
    expect(text()).toBeUndefined();

    fleet.verdict = () => 'ready';
    fleet.edit(data('two', one));
    await fleet.settle(400);
    expect(withBranch('two')).toHaveLength(6);
    expect(fleet.lies()).toEqual([]);
    expect(most.unjudged).toBeLessThanOrEqual(1 + 1);
  });
});

describe('a suspended project', () => {
  it('looks at nothing of its rollout until it goes on', async () => {
    await started(one);
    const annotations = { [SUSPENDED]: 'incident' };
    fleet.edit(data('one', one), annotations);
    await fleet.settle();
    fleet.edit(data('two', one), annotations);
    await fleet.settle();
    fleet.requests.length = 0;
    await fleet.pass(3600);
    expect(fleet.requests).toEqual([]);
    expect(withBranch('two')).toEqual([]);
    fleet.edit(data('two', one));
    await fleet.pass(600);
    expect(withBranch('two')).toHaveLength(6);
    expect(most.places).toBe(1);
  });
});

describe('Shoots that come and go during a rollout', () => {
  it('leave no place and no failure behind, also where nothing has seen them go', async () => {
    for (const unseen of [false, true]) {
      await started(one);
      fleet.verdict = (_, branch) => (branch === 'two' ? 'bad' : 'ready');
      fleet.edit(data('two', one));
      await fleet.settle(100);
      const [failed = ''] = fleet.state()?.failed ?? [];
      const [waiting = ''] = fleet.state()?.waiting.keys() ?? [];
      expect(text()).toContain('is paused, because more than 0 failed');
      fleet.verdict = () => 'ready';
      fleet.remove(failed, { unseen });
      fleet.remove(waiting, { unseen });
      if (unseen) fleet.restart();
      await fleet.settle(300);
      expect(withBranch('two').sort()).toEqual(names(6).filter((name) => name !== failed && name !== waiting));
      expect(fleet.lies(), `unseen: ${unseen}`).toEqual([]);
      expect(text()).toMatch(/ has ended: 4 done, 0 in progress, 0 waiting, 0 failed\.$/);
      if (!unseen) await fleet[Symbol.asyncDispose]();
    }
  });

  it('get the newest edit when they are new, and take no place', async () => {
    await started(one, { later: ['s5'] });
    await stalled(one, 1);
    fleet.create('s5');
    await fleet.settle();
    expect(withBranch('two')).toContain('s5');
    expect(fleet.state()?.inProgress.size).toBe(1);
    expect(fleet.state()?.waiting.has('s5')).toBe(false);
  });

  it('get it on another seed without a turn, and leave their place', async () => {
    await started(one, { seeds: ['a', 'b'] });
    await stalled(one, 0);
    const [changing = ''] = fleet.state()?.inProgress.keys() ?? [];
    const [waiting = ''] = fleet.state()?.waiting.keys() ?? [];
    fleet.verdict = () => 'ready';
    for (const shoot of [changing, waiting]) fleet.move(shoot, Number(shoot.slice(1)) % 2 === 0 ? 'b' : 'a');
    await fleet.settle(1000);
    expect(withBranch('two')).toHaveLength(6);
    expect(text()).toMatch(/ has ended: \d done, 0 in progress, 0 waiting, 0 failed\.$/);
    expect(fleet.lies()).toEqual([]);
  });

  it('keep their place while they wake up, so that no more of them are changed than may be', async () => {
    await started(one);
    const asleep = ['s1', 's2', 's3', 's4'];
    for (const shoot of asleep) fleet.shoot(shoot, { spec: { hibernation: { enabled: true } } });
    await fleet.settle();
    fleet.edit(data('two', one));
    await fleet.settle(100);
    expect(withBranch('two')).toEqual(['s0', 's5']);

    const waking = new Set(asleep);
    fleet.verdict = (shoot) => (waking.has(shoot) ? 'silent' : 'ready');
    for (const shoot of asleep) fleet.shoot(shoot, { spec: {}, status: { hibernated: true } as never });
    await fleet.settle(50);
    expect(withBranch('two')).toHaveLength(3);
    waking.clear();
    const awake = { spec: { hibernation: { enabled: false } }, status: { hibernated: false } as never };
    for (const shoot of asleep) fleet.shoot(shoot, awake);
    await fleet.settle(1000);
    expect(withBranch('two')).toHaveLength(6);
    expect(most.unjudged).toBe(1);
  });
});

describe('a deletion policy', () => {
  it('that is written beside an edit counts at once, also for a Shoot that waits', async () => {
    await started(one);
    await stalled(one, 1);
    fleet.edit({ ...data('two', one), deletionPolicy: 'Orphan' });
    await fleet.settle();
    for (const shoot of fleet.shoots()) {
      expect(fleet.extension(shoot).status?.state?.applied?.deletionPolicy, shoot).toBe('Orphan');
    }
    expect(withBranch('one').length).toBeGreaterThan(0);
  });
});

describe('gardenlet', () => {
  it('gets an answer at once from a Shoot that waits, which keeps what it has', async () => {
    await started(one);
    await stalled(one, 1);
    const [waiting = ''] = fleet.state()?.waiting.keys() ?? [];
    fleet.operate(waiting, 'reconcile');
    await fleet.settle(5);
    const { metadata, status } = fleet.extension(waiting);
    expect(metadata.annotations?.['gardener.cloud/operation']).toBeUndefined();
    expect(status?.lastOperation).toMatchObject({ state: 'Succeeded', type: 'Reconcile' });
    expect(Date.parse(status?.lastOperation?.lastUpdateTime ?? '')).toBeGreaterThanOrEqual((fleet.now - 10) * 1000);
    expect(fleet.branches().get(waiting)).toBe('one');
    expect(fleet.state()?.inProgress.size).toBe(1);
  });

  it('hears of what fails in a Shoot that waits, and of its end', async () => {
    await started(one);
    await stalled(one, 1);
    const [waiting = ''] = fleet.state()?.waiting.keys() ?? [];
    fleet.applies = (shoot) => (shoot === waiting ? 'failing' : 'applied');
    fleet.fails(waiting);
    await fleet.settle(100);
    expect(fleet.extension(waiting).status?.lastOperation?.state).toBe('Error');
    expect(fleet.status()[waiting]).toMatch(/^Not Ready since /);
    fleet.applies = () => 'applied';
    fleet.wake(waiting);
    await fleet.settle(100);
    expect(fleet.extension(waiting).status?.lastOperation?.state).toBe('Succeeded');
    expect(fleet.status()[waiting]).toBe('Ready (v2.9.99)');
    expect(fleet.branches().get(waiting)).toBe('one');
  });

  it('may wait for an operation that never ends: its Shoot fails, and the others go on', async () => {
    const lenient = '{ maxInProgress: 1, maxFailed: 1 }';
    await started(lenient);
    fleet.applies = (shoot) => (shoot === 's2' ? 'never' : 'applied');
    fleet.edit(data('two', lenient));
    await fleet.settle(500);
    expect(withBranch('two')).toHaveLength(6);
    expect(text()).toMatch(/ has ended: 5 done, 0 in progress, 0 waiting, 1 failed \(s2\)\.$/);
    expect(most.unjudged).toBeLessThanOrEqual(1 + 1);
    expect(fleet.status().s2).toMatch(/^(Progressing|Not Ready) since /);
  });
});
