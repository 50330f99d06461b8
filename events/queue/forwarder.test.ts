import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Cause, ChangeRequest } from '../../shared/runtime/change-request.ts';
import { createClusterHealth } from '../../shared/runtime/cluster-health.ts';
import { keyText, type ReconcileKey } from '../../shared/runtime/key.ts';
import { causeOf, definitionOf, keptLog, keptMetrics } from '../testing.ts';
import { changesOf } from './forwarder.ts';
import { openQueue, type QueueOptions } from './queue.ts';

const key = (name: string, cluster = 'seed'): ReconcileKey => ({ cluster, namespace: 'a', name });
const names = (changes: ChangeRequest[]) => changes.map((change) => change.key.name);
const resync: Cause = { type: 'resync', epoch: 1 };
const listed = causeOf({ listed: true });

type Send = (changes: ChangeRequest[]) => Promise<void> | void;

/** The queue of one function with a transport that does as the test says, and all attempts to send. */
function start(send: Send = () => {}, backgroundPerSecond?: QueueOptions['backgroundPerSecond']) {
  const attempts: ChangeRequest[][] = [];
  const { log, lines } = keptLog();
  const { metrics, sums } = keptMetrics();
  const health = createClusterHealth();
  const definitions = [definitionOf('keys'), definitionOf('other', { sends: true })];
  const queue = openQueue({ definitions, metrics, health, concurrency: 100, backgroundPerSecond });
  const sender = {
    async send(changes: ChangeRequest[]) {
      attempts.push(changes);
      await send(changes);
    },
  };
  const forwarding = queue.forward({ sender, log, metrics });
  const add = (to: string | ReconcileKey, cause: Cause = causeOf(), waitMs?: number) =>
    queue.add('keys', typeof to === 'string' ? key(to) : to, cause, waitMs);
  return { queue, forwarding, health, attempts, add, lines, sums, arrived: () => names(attempts.flat()) };
}

const refuse = () => {
  throw new Error('refused');
};
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('what is sent for a key', () => {
  const object = fc.record({
    type: fc.constant('object' as const),
    cluster: fc.constant('seed'),
    kind: fc.constantFrom('Extension', 'ManagedResource'),
    namespace: fc.constant('a'),
    name: fc.constantFrom('x', 'y', 'z'),
    uid: fc.constantFrom('1', '2'),
    resourceVersion: fc.constantFrom('1', '2'),
    awaited: fc.constantFrom(true as const, undefined),
    listed: fc.constantFrom(true as const, undefined),
  });
  const some = fc.array(object, { minLength: 1, maxLength: 12 }) as fc.Arbitrary<[Cause, ...Cause[]]>;
  const sent = (causes: [Cause, ...Cause[]]) =>
    changesOf('keys', { key: key('x'), causes }).map(({ cause }) => cause as Cause & { type: 'object' });
  const bare = (cause: Cause) => JSON.stringify({ ...cause, awaited: undefined, listed: undefined });
  /** The latest version of each object, in any order. */
  const latest = (causes: Cause[]) =>
    JSON.stringify(
      [...new Map(causes.map((cause) => [cause.type === 'object' && `${cause.kind} ${cause.name}`, bare(cause)]))]
        .map(([, text]) => text)
        .sort(),
    );

  it('is one change for all objects: equal for equal sets of their latest versions, else different', () => {
    fc.assert(
      fc.property(some, some, (one, other) => {
        const [[a], [b]] = [sent(one).map(bare), sent(other).map(bare)];
        expect(sent(one)).toHaveLength(1);
        expect(a === b).toBe(latest(one) === latest(other));
      }),
    );
  });

  it('is awaited if one of the merged changes is, and listed only if all are', () => {
    fc.assert(
      fc.property(some, (causes) => {
        const [merged] = sent(causes);
        const flags = causes as (Cause & { type: 'object' })[];
        expect(merged?.awaited === true).toBe(flags.some(({ awaited }) => awaited === true));
        expect(merged?.listed === true).toBe(flags.every((cause) => cause.listed === true));
      }),
    );
  });

  it('is the retry of another process beside that: the run that failed may have had any cause', () => {
    const retry: Cause = { type: 'notBefore', notBefore: '2026-05-01T12:00:00.000Z', attempt: 9 };
    const look: Cause = { type: 'notBefore', notBefore: '2026-05-01T12:00:00.000Z' };
    expect(sent([retry, causeOf({ kind: 'ManagedResource' }), resync])).toEqual([
      causeOf({ kind: 'ManagedResource' }),
      retry,
    ]);
    expect(sent([look, causeOf()])).toEqual([causeOf()]);
  });

  it('is the rest of each pass beside that, and no resync beside any other cause', () => {
    const rest = (state: string): Cause => ({ type: 'continue', after: 'a', hop: 1, state });
    const look: Cause = { type: 'notBefore', notBefore: '2026-05-01T12:00:00.000Z', attempt: 9 };
    expect(sent([resync, rest('1'), causeOf(), rest('2')])).toEqual([causeOf(), rest('1'), rest('2')]);
    expect(sent([look, resync])).toEqual([look]);
    expect(sent([resync])).toEqual([resync]);
  });
});

describe('a queue whose changes are sent', () => {
  it('lets a waiting key that becomes awaited pass all others', async () => {
    const { add, arrived } = start();
    for (let n = 0; n < 1200; n++) add(`x${n}`, listed);
    add('x1199', causeOf({ awaited: true, name: 'y' }));
    await pass(100);
    expect(arrived()[0]).toBe('x1199');
    expect(arrived()).toHaveLength(1200);
  });

  it('repeats what was refused with its own back-off; a refused change holds up no other', async () => {
    const { add, arrived, forwarding } = start(([change]) => {
      if (change?.key.name === 'poison') refuse();
    });
    add('poison');
    for (let n = 0; n < 30; n++) add(`x${n}`);
    await pass(60_000);
    const repeated = arrived().slice(31);
    expect(new Set(repeated)).toEqual(new Set(['poison']));
    expect(repeated.length).toBeLessThan(15);
    expect(forwarding.status()[0]).toEqual({ function: 'keys', waiting: 1, problem: 'refused' });
    for (let n = 0; n < 5; n++) {
      add(`z${n}`);
      await pass(1);
      expect(arrived().at(-1)).toBe(`z${n}`);
    }
  });

  it('tells no problem of a change that waits for its cluster when the transport takes all others', async () => {
    let isBroken = true;
    const { add, health, forwarding } = start(() => {
      if (isBroken) refuse();
    });
    add(key('x', 'dead'));
    await pass(1);
    expect(forwarding.status()[0]?.problem).toBe('refused');
    health.declare('dead', 'ECONNREFUSED');
    isBroken = false;
    await pass(3_600_000);
    expect(forwarding.status()[0]?.problem).toBeUndefined();
    health.declare('dead', undefined);
    await pass(1000);
    expect(forwarding.status()[0]).toEqual({ function: 'keys', waiting: 0, problem: undefined });
  });

  it('accepts nothing while its first change waits for others of its key, and no longer says so after it was sent', async () => {
    const { add, forwarding } = start();
    add('later', causeOf(), 60_000);
    expect(forwarding.accepts()).toBe(true);
    add('x', causeOf(), 10);
    expect(forwarding.accepts()).toBe(false);
    await pass(20);
    add('y', causeOf(), 10);
    expect(forwarding.accepts()).toBe(true);
  });

  it('pauses while the transport takes nothing, without delaying another function, and loses nothing', async () => {
    let isBroken = true;
    const { queue, add, attempts, forwarding, lines, sums } = start((changes) => {
      if (isBroken && changes.some((change) => change.function === 'keys')) refuse();
    });
    expect(forwarding.accepts()).toBe(true);
    for (let n = 0; n < 1000; n++) {
      add(`x${n}`);
      await pass(60);
    }
    queue.add('other', key('x'), causeOf());
    await pass(1);
    expect(attempts.at(-1)?.[0]?.function).toBe('other');
    // A change every 60 ms for a minute; an attempt sends a hundred.
    expect(attempts.length).toBeLessThan(700);
    expect(forwarding.accepts()).toBe(false);
    expect(forwarding.alive()).toBe(true);
    expect(lines).toContainEqual(
      expect.objectContaining({ message: 'send failed', function: 'keys', error: 'refused' }),
    );
    expect(lines.length).toBeLessThan(30);
    expect(sums.get('watcher_send_failures_total{function=keys}')).toBe(attempts.length - 1);
    isBroken = false;
    const before = attempts.length;
    await pass(31_000);
    expect(new Set(names(attempts.slice(before).flat())).size).toBe(1000);
    expect(forwarding.accepts()).toBe(true);
    expect(forwarding.status()[0]).toEqual({ function: 'keys', waiting: 0, problem: undefined });
  });

  it('at a pace, sends so many background changes of a function per second, and all others at once', async () => {
    const { queue, add, attempts } = start(undefined, ({ sends }) => (sends ? 1 : 100));
    const arrived = (name = 'keys') => names(attempts.flat().filter((change) => change.function === name));
    for (let n = 0; n < 300; n++) add(`x${n}`, listed);
    for (let n = 0; n < 9; n++) queue.add('other', key(`x${n}`), listed);
    await pass(10);
    expect(arrived()).toHaveLength(100);
    add('awaited', causeOf({ awaited: true }));
    queue.add('other', key('edited'), causeOf());
    await pass(5);
    expect(arrived().at(-1)).toBe('awaited');
    expect(arrived('other')).toEqual(['x0', 'edited']);
    await pass(1000);
    expect(arrived()).toHaveLength(201);
    await pass(1500);
    expect(arrived()).toHaveLength(301);
    expect(arrived('other')).toHaveLength(4);
  });

  it('is not alive while the transport never answers; stop waits for the attempt and sends no more', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { add, forwarding, attempts } = start(() => promise);
    add('x');
    await pass(659_000);
    expect(forwarding.alive()).toBe(true);
    await pass(2_000);
    expect(forwarding.alive()).toBe(false);
    const stopped = forwarding.stop();
    add('y');
    resolve();
    await stopped;
    await pass(60_000);
    expect(attempts).toHaveLength(1);
  });
});

const keys = fc.record({ cluster: fc.constantFrom('garden', 'a', 'b'), n: fc.nat(6) });
const causes = fc.constantFrom(causeOf(), causeOf({ name: 'y' }), causeOf({ awaited: true }), listed, resync);
const step = fc.oneof(
  fc.record({ do: fc.constant('add' as const), to: keys, cause: causes, waitMs: fc.constantFrom(0, 10, 5000) }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 100, 10_000) }),
  fc.record({ do: fc.constant('turn' as const), cluster: fc.constantFrom('garden', 'a', 'b') }),
  fc.record({ do: fc.constant('transport' as const), is: fc.constantFrom('good', 'broken', 'choosy', 'slow') }),
);

it('loses no change, and sends no key twice at a time, whatever happens', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      let transport = 'good';
      let twice = false;
      const underWay = new Set<string>();
      const open = new Set<string>();
      const { add, health, forwarding } = start(async (changes) => {
        const texts = changes.map((change) => keyText(change.key));
        if (texts.some((text) => underWay.has(text))) twice = true;
        for (const text of texts) underWay.add(text);
        for (const text of texts) open.delete(text);
        if (transport === 'slow') await new Promise((resolve) => setTimeout(resolve, 3000));
        for (const text of texts) underWay.delete(text);
        const isRefused = transport === 'broken' || (transport === 'choosy' && changes[0]?.cause.type === 'resync');
        if (!isRefused) return;
        for (const text of texts) open.add(text);
        refuse();
      });
      for (const each of steps) {
        if (each.do === 'wait') await pass(each.ms);
        else if (each.do === 'transport') transport = each.is;
        else if (each.do === 'turn') health.declare(each.cluster, health.isUp(each.cluster) ? 'Timeout' : undefined);
        else {
          const to = { cluster: each.to.cluster, namespace: `shoot--p${each.to.n % 3}--s${each.to.n}`, name: 'x' };
          open.add(keyText(to));
          add(to, each.cause, each.waitMs);
        }
      }
      transport = 'good';
      for (const cluster of ['garden', 'a', 'b']) health.declare(cluster, undefined);
      await pass(120_000);
      expect(twice).toBe(false);
      expect([...open]).toEqual([]);
      expect(forwarding.status()[0]?.waiting).toBe(0);
      await forwarding.stop();
    }),
    { seed: 9, numRuns: 100 },
  );
});
