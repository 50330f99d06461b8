import { expect, test } from 'vitest';
import { createResync, createResyncPlan, type Due } from './resync.ts';

const keys = Array.from({ length: 3600 }, (_, index) => ({
  cluster: 'seed',
  namespace: `shoot-${index}`,
  name: 'shoot-flux',
}));

/** The namespaces that are due at each of these times, for a resync that began at the first one. */
function dueAt(times: number[], all = keys): { namespaces: string[]; epochs: number[] }[] {
  const resync = createResync(3600, times[0] ?? 0);
  return times.slice(1).map((time) => {
    const due = [...resync.due('managed-resources', all, resync.advance(time))];
    return {
      namespaces: due.map(({ key }) => key.namespace),
      epochs: due.map(({ cause }) => (cause.type === 'resync' ? cause.epoch : -1)),
    };
  });
}

const every = (stepMs: number, count: number, from = 1_786_000_003_000) =>
  Array.from({ length: count + 1 }, (_, index) => from + index * stepMs);

test('sends every key exactly once per period, evenly spread', () => {
  const ticks = dueAt(every(10_000, 360));
  const namespaces = ticks.flatMap((tick) => tick.namespaces);
  expect(namespaces).toHaveLength(3600);
  expect(new Set(namespaces).size).toBe(3600);
  // 300 keys in each twelfth of the period; the spread of a hash is about its square root.
  for (let part = 0; part < 12; part++) {
    const count = ticks.slice(part * 30, part * 30 + 30).flatMap((tick) => tick.namespaces).length;
    expect(count).toBeGreaterThan(220);
    expect(count).toBeLessThan(380);
  }
});

test('sends the keys of the next period in the same steps with the next epoch', () => {
  const ticks = dueAt(every(10_000, 720));
  for (let index = 0; index < 360; index++) {
    const [one, next] = [ticks[index], ticks[index + 360]];
    expect(next?.namespaces).toEqual(one?.namespaces);
    expect(next?.epochs).toEqual(one?.epochs.map((epoch) => epoch + 1));
  }
});

test('after a pause, sends each key once, and never more than the keys of four steps at once', () => {
  for (const pause of [3_600_000, 86_400_000 * 3]) {
    const ticks = dueAt([0, ...Array.from({ length: 90 }, (_, index) => pause + index)]);
    const namespaces = ticks.flatMap((tick) => tick.namespaces);
    expect(namespaces).toHaveLength(3600);
    expect(new Set(namespaces).size).toBe(3600);
    // 40 on average.
    for (const tick of ticks) expect(tick.namespaces.length).toBeLessThan(100);
  }
});

test('sends nothing twice when the time goes back', () => {
  const [first, back, again] = dueAt([3_600_000, 3_640_000, 3_000_000, 3_640_000]);
  expect(first?.namespaces).not.toHaveLength(0);
  expect(back?.namespaces).toEqual([]);
  expect(again?.namespaces).toEqual([]);
});

test('sends a key of several objects once', () => {
  const tick = dueAt(every(10_000, 360), [...keys, ...keys]).flatMap(({ namespaces }) => namespaces);
  expect(tick).toHaveLength(3600);
});

const due = (step: number): Due => ({
  functionName: 'managed-resources',
  key: { cluster: 'seed', namespace: `shoot-${step}`, name: 'shoot-flux' },
  cause: { type: 'resync', epoch: 0 },
  step,
});

/** Takes steps up to each of these, and returns how often keys were read, and the steps that were sent each time. */
function takenUpTo(steps: number[], from = 0): { plans: number; sent: number[][] } {
  const plan = createResyncPlan();
  let plans = 0;
  let last = from;
  const sent = steps.map((to) => {
    const missing = plan.missing({ from: last, to });
    if (missing !== undefined) {
      plans++;
      for (let step = missing.from + 1; step <= missing.to; step++) plan.add(due(step));
    }
    const taken = plan.take({ from: last, to });
    last = to;
    return taken.map(({ step }) => step);
  });
  return { plans, sent };
}

test('the keys are read ten times in a period, and each step is sent once', () => {
  const { plans, sent } = takenUpTo(Array.from({ length: 360 }, (_, index) => index + 1));
  expect(plans).toBe(10);
  expect(sent).toEqual(Array.from({ length: 360 }, (_, index) => [index + 1]));
});

test('several steps at once are sent together, planned before or not', () => {
  const { sent } = takenUpTo([2, 37, 41]);
  expect(sent.map((steps) => steps.length)).toEqual([2, 35, 4]);
  expect(sent.flat()).toEqual(Array.from({ length: 41 }, (_, index) => index + 1));
});

test('steps that a pause has passed over are forgotten', () => {
  const plan = createResyncPlan();
  expect(plan.missing({ from: 0, to: 1 })).toEqual({ from: 0, to: 37 });
  for (const step of [1, 20, 37]) plan.add(due(step));
  expect(plan.take({ from: 0, to: 1 })).toHaveLength(1);
  expect(plan.missing({ from: 1000, to: 1004 })).toEqual({ from: 1000, to: 1040 });
  expect(plan.take({ from: 1000, to: 1004 })).toEqual([]);
  expect(plan.take({ from: 19, to: 37 })).toEqual([]);
});
