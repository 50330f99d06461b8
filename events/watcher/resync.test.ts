import { expect, test } from 'vitest';
import { createResync } from './resync.ts';

const keys = Array.from({ length: 3600 }, (_, index) => ({
  cluster: 'seed',
  namespace: `shoot-${index}`,
  name: 'shoot-flux',
}));

/** What is due at each of these times, for a resync that began at the first one, and how often the keys were read. */
async function dueAt(times: number[], all = keys) {
  let reads = 0;
  const resync = createResync(3600, times[0] ?? 0, () => {
    reads++;
    return [['managed-resources', all]];
  });
  const ticks: { namespaces: string[]; epochs: number[] }[] = [];
  for (const time of times.slice(1)) {
    const due = await resync.due(time);
    const epochs = due.map(({ cause }) => (cause.type === 'resync' ? cause.epoch : -1));
    ticks.push({ namespaces: due.map(({ key }) => key.namespace), epochs });
  }
  return { ticks, reads, namespaces: ticks.flatMap(({ namespaces }) => namespaces) };
}

const every = (stepMs: number, count: number, from = 1_786_000_003_000) =>
  Array.from({ length: count + 1 }, (_, index) => from + index * stepMs);

test('sends every key exactly once per period, evenly spread, and reads the keys ten times', async () => {
  const { ticks, namespaces, reads } = await dueAt(every(10_000, 360));
  expect(namespaces).toHaveLength(3600);
  expect(new Set(namespaces).size).toBe(3600);
  expect(reads).toBe(10);
  // 300 keys in each twelfth of the period; the spread of a hash is about its square root.
  for (let part = 0; part < 12; part++) {
    const count = ticks.slice(part * 30, part * 30 + 30).flatMap((tick) => tick.namespaces).length;
    expect(count).toBeGreaterThan(220);
    expect(count).toBeLessThan(380);
  }
});

test('sends the keys of the next period in the same steps with the next epoch', async () => {
  const { ticks } = await dueAt(every(10_000, 720));
  for (let index = 0; index < 360; index++) {
    const [one, next] = [ticks[index], ticks[index + 360]];
    expect(next?.namespaces).toEqual(one?.namespaces);
    expect(next?.epochs).toEqual(one?.epochs.map((epoch) => epoch + 1));
  }
});

test('after a pause, sends each key once, and never more than the keys of four steps at once', async () => {
  for (const pause of [3_600_000, 86_400_000 * 3]) {
    const { ticks, namespaces } = await dueAt([0, ...Array.from({ length: 90 }, (_, index) => pause + index)]);
    expect(namespaces).toHaveLength(3600);
    expect(new Set(namespaces).size).toBe(3600);
    // 40 on average.
    for (const tick of ticks) expect(tick.namespaces.length).toBeLessThan(100);
  }
});

test('sends nothing twice when the time goes back', async () => {
  const { ticks } = await dueAt([3_600_000, 3_640_000, 3_000_000, 3_640_000]);
  expect(ticks.map(({ namespaces }) => namespaces.length > 0)).toEqual([true, false, false]);
});

test('sends a key of several objects once', async () => {
  const { namespaces } = await dueAt(every(10_000, 360), [...keys, ...keys]);
  expect(namespaces).toHaveLength(3600);
});
