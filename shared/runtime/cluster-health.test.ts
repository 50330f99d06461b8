import { expect, test } from 'vitest';
import { ClusterDownError, UnreachableError } from '../kube/errors.ts';
import { createClusterHealth, type HealthOptions } from './cluster-health.ts';

const never = new AbortController().signal;
const refused = new UnreachableError('no answer', 0, 'ECONNREFUSED');

/** A health whose clock the test moves, and what its listeners have heard. */
function healthAt(options: HealthOptions = {}) {
  const clock = { now: 0 };
  const health = createClusterHealth({ ...options, now: () => clock.now });
  const heard: string[] = [];
  health.onChange((cluster, isUp) => heard.push(`${cluster} ${isUp ? 'up' : 'down'}`));
  const guard = health.guard('local');
  const begin = () => guard.begin('GET secrets foo/bar');
  const fail = (times = 1, error = refused) => {
    for (let time = 0; time < times; time++) begin().failed(error);
  };
  return { clock, health, heard, guard, begin, fail };
}

test('three calls in a row without any answer mean that a cluster is down; others are not affected', () => {
  const { health, heard, begin, fail } = healthAt();
  fail(2);
  begin().answered();
  fail(2);
  expect(health.isUp('local')).toBe(true);
  fail();
  expect(heard).toEqual(['local down']);
  expect(health.isUp('local')).toBe(false);
  expect(health.isUp('other')).toBe(true);
  expect(() => health.guard('other').begin('x').answered()).not.toThrow();
  expect(health.status()).toMatchObject([
    { cluster: 'local', isUp: false, problem: 'ECONNREFUSED' },
    { cluster: 'other', isUp: true },
  ]);
});

test('a call to a cluster that is down fails at once, in a sentence that names call, cluster and reason', () => {
  const { begin, fail } = healthAt();
  fail(3);
  expect(begin).toThrow(ClusterDownError);
  expect(begin).toThrow(
    /^GET secrets foo\/bar: seed local has not answered since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \(ECONNREFUSED\); this continues as soon as it answers$/,
  );
  expect(begin).toThrow(expect.objectContaining({ cluster: 'local', reason: 'ClusterDown', status: 0 }));
});

test('lets one call through as the probe, after 1, 2, 4, 5 and 5 seconds', () => {
  const { clock, begin, fail, heard } = healthAt();
  fail(3);
  for (const wait of [1000, 2000, 4000, 5000, 5000]) {
    clock.now += wait - 1;
    expect(begin).toThrow(ClusterDownError);
    clock.now += 1;
    const probe = begin();
    expect(begin).toThrow(ClusterDownError);
    probe.failed(refused);
  }
  clock.now += 5000;
  begin().answered();
  expect(heard).toEqual(['local down', 'local up']);
  expect(begin).not.toThrow();
});

test('a probe that ends without a verdict makes room for the next one', () => {
  const { clock, begin, fail } = healthAt();
  fail(3);
  clock.now += 1000;
  begin().dropped();
  expect(begin).not.toThrow();
});

test('calls that hang while others are answered do not count: one API or webhook of the cluster hangs', () => {
  const { clock, health, begin } = healthAt();
  const hanging = [begin(), begin(), begin(), begin()];
  clock.now = 10;
  begin().answered();
  clock.now = 8000;
  for (const call of hanging) call.failed(new UnreachableError('no answer', 0, 'Timeout'));
  expect(health.isUp('local')).toBe(true);
});

test('calls that are refused together are one failure: one of several API servers refuses at once, and others answer later', () => {
  const { clock, health, begin } = healthAt();
  const refuse = (calls: number) => {
    const together = Array.from({ length: calls }, begin);
    for (const call of together) {
      clock.now++;
      call.failed(refused);
    }
  };
  refuse(10);
  refuse(10);
  expect(health.isUp('local')).toBe(true);
  begin().answered();
  refuse(10);
  refuse(10);
  expect(health.isUp('local')).toBe(true);
  refuse(1);
  expect(health.isUp('local')).toBe(false);
});

test('a run that ends counts only after seconds without an answer', () => {
  const { clock, health, begin } = healthAt();
  const aborted = new UnreachableError('no answer', 0, 'Aborted');
  for (const waited of [100, 1999, 2000]) {
    const calls = [begin(), begin(), begin()];
    clock.now += waited;
    for (const call of calls) call.failed(aborted);
    expect(health.isUp('local')).toBe(waited < 2000);
  }
});

test('waits until a cluster is up, until a call may be the probe, or until the signal aborts', async () => {
  const { clock, health, begin, fail } = healthAt({ probeMs: [20, 20] });
  await health.untilUp('local', never);
  fail(3);
  clock.now = 10;
  const stop = new AbortController();
  const stopped = health.untilUp('local', stop.signal);
  stop.abort();
  await stopped;

  const waiting = health.untilUp('local', never);
  clock.now = 20;
  await waiting;
  const probe = begin();
  const others = health.untilUp('local', never);
  probe.answered();
  await others;
  expect(health.isUp('local')).toBe(true);
});

test('with a prober, calls never probe, and only the prober decides', async () => {
  const { clock, health, heard, begin, fail } = healthAt({ probeMs: [5, 5] });
  const suspects: string[] = [];
  const detach = health.attachProber((cluster) => suspects.push(cluster));
  fail(5);
  expect(suspects).toEqual(Array(5).fill('local'));
  expect(health.isUp('local')).toBe(true);
  health.declare('local', 'ETIMEDOUT');
  expect(begin).toThrow('(ETIMEDOUT)');
  clock.now += 60_000;
  expect(begin).toThrow(ClusterDownError);
  const waiting = health.untilUp('local', never);
  health.declare('local', undefined);
  await waiting;
  expect(heard).toEqual(['local down', 'local up']);
  detach();
});

test('a probe that meets the one dead address of a cluster does not outweigh a call that was answered meanwhile', () => {
  const { clock, health, heard, begin } = healthAt();
  health.attachProber(() => {});
  const hanging = begin();
  clock.now = 2000;
  const other = begin();
  clock.now = 2500;
  other.answered();
  health.declare('local', 'ConnectTimeout', 2000);
  expect(begin).not.toThrow();
  health.declare('local', 'ConnectTimeout', 3000);
  expect(heard).toEqual(['local down']);
  // While it is down no call is answered, whatever came before.
  health.declare('local', 'Timeout', 0);
  expect(begin).toThrow('(Timeout)');
  hanging.dropped();
});

test('suspects a cluster while a call waits, before its time limit', async () => {
  const { clock, health, begin } = healthAt({ suspiciousMs: 10 });
  const suspects: string[] = [];
  health.attachProber((cluster) => suspects.push(cluster));
  const waiting = begin();
  const quick = begin();
  clock.now = 5;
  quick.dropped();
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, 40);
  await promise;
  expect(suspects).toEqual(['local']);
  waiting.answered();
});

test('says when a cluster goes down, to those that hold a connection to it', () => {
  const { clock, guard, begin, fail } = healthAt();
  let downs = 0;
  const stop = guard.onDown(() => downs++);
  fail(3);
  clock.now = 1000;
  begin().answered();
  expect(downs).toBe(1);
  stop();
  fail(3);
  expect(downs).toBe(1);
});
