import { expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { createWorkQueue } from './work-queue.ts';

it('never runs a key twice at a time, and runs it once more when it was added meanwhile', async () => {
  const events: string[] = [];
  let release = () => {};
  const queue = createWorkQueue({
    async reconcile(key) {
      events.push(`begin ${key}`);
      if (events.length === 1) await new Promise<void>((resolve) => (release = resolve));
      events.push(`end ${key}`);
      return undefined;
    },
  });
  queue.add('a');
  await eventually('the first run', async () => events.length === 1);
  queue.add('a');
  queue.add('a');
  queue.add('b');
  await eventually('the other key', async () => events.includes('end b'));
  release();
  await eventually('the second run', async () => events.filter((event) => event === 'end a').length === 2);
  expect(events).toEqual(['begin a', 'begin b', 'end b', 'end a', 'begin a', 'end a']);
  await queue.stop();
});

it('retries after failures, and takes no more keys once it is stopped', async () => {
  let runs = 0;
  const errors: unknown[] = [];
  const queue = createWorkQueue({
    async reconcile() {
      if (++runs < 4) throw new Error(`failure ${runs}`);
      return undefined;
    },
    baseMs: 1,
    onError: (_, error) => errors.push(error),
  });
  queue.add('a');
  await eventually('success', async () => runs === 4);
  expect(errors).toHaveLength(3);
  await queue.stop();
  queue.add('a');
  queue.addAfter('a', 0);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(runs).toBe(4);
});
