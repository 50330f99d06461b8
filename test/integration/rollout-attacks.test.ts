import { afterEach, describe, expect, it } from 'vitest';
import { CONTINUE } from '../../shared/config/project-config.ts';
import { CHANGE_SECONDS } from '../../shared/gardener/rollout.ts';
import { type Fleet, type FleetOptions, startFleet } from '../scenarios/rollout/fleet.ts';

const data = (branch: string, rollout?: string): Record<string, string> => ({
  ...{ repositoryUrl: 'https://git.example.com/fleet', repositoryType: 'public', syncMode: 'Reconcile' },
  ...{ repositoryBranch: branch, ...(rollout !== undefined && { rollout }) },
});
const names = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`);
const one = '{ maxInProgress: 1, maxFailed: 0 }';

let fleet: Fleet;
/** The most Shoots at the same time that had an edit and no verdict about it. */
let most = 0;
afterEach(async () => {
  expect(fleet.failures).toEqual([]);
  await fleet[Symbol.asyncDispose]();
});

/** Starts a fleet in which each Shoot has the branch `one`, and watches the limit from then on. */
async function started(rollout: string, options: Partial<FleetOptions> = {}): Promise<void> {
  const { shoots = names(6), later = [] } = options;
  fleet = await startFleet({ ...options, shoots });
  fleet.edit(data('one', rollout));
  await fleet.settle();
  expect(withBranch('one')).toHaveLength(shoots.length - later.length);
  most = 0;
  fleet.observe = () => {
    const open = ['two', 'three', 'bad'].flatMap((branch) => fleet.unjudged(branch));
    most = Math.max(most, open.length);
  };
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

describe('an edit that is not valid, during a rollout', () => {
  it('does not count as a failure of the edit before', async () => {
    await started(one);
    await stalled(one, 2);
    fleet.edit({ ...data('two', one), repositoryBranchh: 'typo' });
    await fleet.settle(400);
    expect(fleet.status().Summary).toBe('0 Ready, 0 progressing, 6 not Ready of 6 Shoots');
    expect(text()).toContain(' is under way: 2 done, 1 in progress, 3 waiting, 0 failed.');
    fleet.verdict = () => 'ready';
    fleet.edit(data('two', one));
    await fleet.settle(400);
    expect(withBranch('two')).toHaveLength(6);
    expect(fleet.lies()).toEqual([]);
    expect(text()).toMatch(/ has ended: 6 done, 0 in progress, 0 waiting, 0 failed\.$/);
  });

  it('does not make the Shoots count as broken before the next edit', async () => {
    await started(one);
    await stalled(one, 2);
    fleet.edit({ ...data('two', one), repositoryBranchh: 'typo' });
    await fleet.settle(400);
    fleet.verdict = (_, branch) => (branch === 'bad' ? 'bad' : 'ready');
    fleet.edit(data('bad', one));
    await fleet.settle(200);
    expect(withBranch('bad')).toHaveLength(1);
    expect(text()).toContain(' is paused, because more than 0 failed: 0 done, 0 in progress, 5 waiting, 1 failed (');
    expect(fleet.lies()).toEqual([]);
  });
});

describe('a rollout that is taken back', () => {
  it('ends when the key is removed: all Shoots follow, and flux-status says nothing more about it', async () => {
    await started(one);
    await stalled(one, 2);
    fleet.verdict = () => 'ready';
    fleet.edit(data('two'));
    await fleet.settle(100);
    expect(withBranch('two')).toHaveLength(6);
    expect(Object.keys(fleet.status()).sort()).toEqual(['Summary', ...names(6)]);
    expect(fleet.lies()).toEqual([]);

    most = 0;
    fleet.edit(data('three', one));
    await fleet.settle(100);
    expect(withBranch('three')).toHaveLength(6);
    expect(most).toBe(1);
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
    expect(most).toBeLessThanOrEqual(1 + 1);
  });
});

describe('two edits in quick succession', () => {
  it('change no more Shoots at a time than one', async () => {
    const two = '{ maxInProgress: 2, maxFailed: 0 }';
    await started(two);
    await stalled(two, 2);
    fleet.verdict = (_, branch) => (branch === 'two' ? 'silent' : 'ready');
    fleet.edit(data('three', two));
    fleet.edit(data('two', two));
    fleet.edit(data('three', two));
    await fleet.settle(400);
    expect(withBranch('three')).toHaveLength(6);
    expect(most).toBe(2);
    expect(fleet.lies()).toEqual([]);
    expect(text()).toMatch(/ has ended: 6 done/);
  });

  it('leave no failure behind where the second one takes the first one back', async () => {
    await started(one);
    await stalled(one, 0);
    fleet.verdict = () => 'ready';
    fleet.edit(data('one', one));
    await fleet.settle(2 * CHANGE_SECONDS);
    expect(withBranch('one')).toHaveLength(6);
    expect(text()).toMatch(/ 0 in progress, 0 waiting, 0 failed\.$/);
    expect(fleet.lies()).toEqual([]);
  });
});

describe('a small project', () => {
  it('with ten percent of three Shoots changes one at a time', async () => {
    await started('{ maxInProgress: 10% }', { shoots: names(3) });
    fleet.edit(data('two', '{ maxInProgress: 10% }'));
    await fleet.settle(100);
    expect([withBranch('two').length, most]).toEqual([3, 1]);
    expect(fleet.lies()).toEqual([]);
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
    expect(most).toBe(1);
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
    expect(fleet.status()[waiting]).toBe('Ready');
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
    expect(most).toBeLessThanOrEqual(1 + 1);
    expect(fleet.status().s2).toMatch(/^(Progressing|Not Ready) since /);
  });
});

describe('a request to continue', () => {
  it('for an earlier edit accepts nothing', async () => {
    await started(one);
    fleet.verdict = (_, branch) => (branch === 'one' ? 'ready' : 'bad');
    fleet.edit(data('two', one));
    await fleet.settle(100);
    const [, token = ''] = / annotation [^ =]+=(\S+) on flux-config\.$/.exec(text() ?? '') ?? [];
    expect(token).not.toBe('');
    fleet.edit(data('three', one), { [CONTINUE]: token });
    await fleet.settle(100);
    expect(withBranch('three')).toHaveLength(1);
    expect(text()).toContain('is paused, because more than 0 failed');
    expect(fleet.lies()).toEqual([]);
  });
});
