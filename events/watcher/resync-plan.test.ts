import { expect, test } from 'vitest';
import type { Due } from './resync.ts';
import { createResyncPlan } from './resync-plan.ts';

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
