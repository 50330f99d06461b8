import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RetryableError, TerminalError } from '../shared/errors.ts';
import type { Handler } from '../shared/runtime/context.ts';
import { noMetrics } from '../shared/runtime/metrics.ts';
import { done, requeueAfter } from '../shared/runtime/outcome.ts';
import { createMemoryTransport } from '../test/memory-transport.ts';
import { openQueue } from './queue/queue.ts';
import { causeOf, definitionOf, functionOf, keptLog, keyOf, processDependencies } from './testing.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A queue whose changes go through the memory to functions. */
function start(handlers: Record<string, Handler>) {
  const transport = createMemoryTransport();
  const { log, lines } = keptLog();
  const functions = Object.entries(handlers).map(([name, handler]) => functionOf(handler, name));
  transport.receive(functions, processDependencies({ log }));
  const definitions = Object.keys(handlers).map((name) => definitionOf(name));
  const queue = openQueue({ definitions, metrics: noMetrics, concurrency: Infinity });
  queue.forward({ sender: transport, log, metrics: noMetrics });
  const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000);
  return { transport, queue, pass, outcomes: () => lines.flatMap(({ outcome }) => (outcome ? [outcome] : [])) };
}

describe('a transport of four methods', () => {
  it('brings changes to functions, one run of a key at a time, and what functions send to each other', async () => {
    const runs: string[] = [];
    let active = 0;
    const { queue, pass } = start({
      sender: async (key, { send, causes }) => {
        runs.push(`sender ${++active} ${causes.length}`);
        await new Promise((resolve) => setTimeout(resolve, 1000));
        active--;
        await send([{ function: 'receiver', key, cause: causeOf() }]);
        return done;
      },
      receiver: async () => {
        runs.push('receiver');
        return done;
      },
    });
    queue.add('sender', keyOf(1), causeOf());
    await pass(0.5);
    for (const name of ['x', 'y']) {
      queue.add('sender', keyOf(1), causeOf({ name }));
      await pass(0.1);
    }
    await pass(5);
    expect(runs).toEqual(['sender 1 1', 'sender 1 2', 'receiver', 'receiver']);
  });

  it('sends again what the transport has not taken', async () => {
    let runs = 0;
    const { transport, queue, pass } = start({
      keys: async () => {
        runs++;
        return done;
      },
    });
    transport.isBroken = true;
    queue.add('keys', keyOf(1), causeOf());
    await pass(60);
    expect(runs).toBe(0);
    transport.isBroken = false;
    await pass(30);
    expect(runs).toBe(1);
  });

  it('runs again when the function asks for it', async () => {
    let runs = 0;
    const { queue, pass } = start({ keys: async () => (++runs < 3 ? requeueAfter(10) : done) });
    queue.add('keys', keyOf(1), causeOf());
    await pass(45);
    expect(runs).toBe(3);
  });

  it('retries what has failed, ever later, and gives it up in the end', async () => {
    let runs = 0;
    const { transport, queue, pass, outcomes } = start({
      keys: async () => {
        runs++;
        throw new RetryableError('no answer');
      },
    });
    queue.add('keys', keyOf(1), causeOf());
    await pass(60);
    expect(runs).toBeGreaterThan(4);
    expect(runs).toBeLessThan(10);
    await pass(24 * 3600);
    expect(runs).toBe(40);
    expect(transport.deadLetters).toMatchObject([{ error: { message: 'no answer' } }]);
    expect(outcomes().at(-1)).toBe('dead_letter');
  });

  it('gives up at once what can never succeed, and drops a resync that fails twice', async () => {
    const errors = [new TerminalError('never'), new RetryableError('not now'), new RetryableError('not now')];
    const { transport, queue, pass, outcomes } = start({ keys: async () => Promise.reject(errors.shift()) });
    queue.add('keys', keyOf(1), causeOf());
    await pass(1);
    expect(transport.deadLetters).toHaveLength(1);
    queue.add('keys', keyOf(2), { type: 'resync', epoch: 1 });
    await pass(3600);
    expect(outcomes()[0]).toBe('dead_letter');
    expect(transport.deadLetters).toHaveLength(1);
  });
});
