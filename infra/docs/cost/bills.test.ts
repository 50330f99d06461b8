import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Landscape } from './assumptions.ts';
import { HEARTBEATS_PER_HOUR, lambdaPerHour, pollsPerHour, type Stack } from './aws.ts';
import { billsOf, type Way } from './bills.ts';
import { deploymentPods, knativePods } from './clusters.ts';
import { type Activity, type ActivityName, activities } from './inputs.ts';
import { type Model, model } from './model.ts';
import { costOf, prices } from './prices.ts';
import { workPerHour } from './work.ts';

const stack: Stack = {
  ...{ fifoQueues: 5, standardQueues: 1, alarms: 30, secrets: 2, heartbeats: 2, functionMetrics: 60 },
};
const ways: Way[] = ['deployment', 'aws', 'knative'];
const nothing: Activity = {
  invocations: 0,
  garden: 0,
  seed: 0,
  shoot: 0,
  fifo: 0,
  standard: 0,
  messages: 0,
  events: 0,
};
const allOf = (activity: Activity) =>
  Object.fromEntries(Object.keys(activities).map((name) => [name, activity])) as Record<ActivityName, Activity>;
const idle: Model = { ...model, activities: allOf(nothing) };
const landscape = fc.record({
  shoots: fc.integer({ min: 1, max: 200_000 }),
  seeds: fc.integer({ min: 1, max: 1000 }),
  followed: fc.double({ min: 0, max: 1, noNaN: true }),
});
const itemOf = (what: string, { shoots, seeds, followed }: Landscape, given = model) =>
  billsOf({ shoots, seeds, followed }, stack, given).aws.items.find((item) => item.what === what)?.usdPerMonth;

describe('a bill', () => {
  it('is the sum of its items, of which none is negative', () => {
    fc.assert(
      fc.property(landscape, (given) => {
        for (const { items, usdPerMonth } of Object.values(billsOf(given, stack))) {
          expect(items.every((item) => item.usdPerMonth >= 0)).toBe(true);
          expect(usdPerMonth).toBeCloseTo(items.reduce((sum, item) => sum + item.usdPerMonth, 0));
        }
      }),
    );
  });

  it.each(ways)('of %s never falls when Shoots are added', (way) => {
    fc.assert(
      fc.property(landscape, fc.integer({ min: 0, max: 100_000 }), (given, more) => {
        // Cold starts become fewer, so a few cents may be saved while there are hardly any Shoots.
        const saved = 1;
        const larger = { ...given, shoots: given.shoots + more };
        expect(billsOf(larger, stack)[way].usdPerMonth + saved).toBeGreaterThanOrEqual(
          billsOf(given, stack)[way].usdPerMonth,
        );
      }),
    );
  });

  it.each(ways)('of %s never falls when more Shoots are followed', (way) => {
    fc.assert(
      fc.property(landscape, fc.double({ min: 0, max: 1, noNaN: true }), (given, other) => {
        const [less = 0, more = 0] = [given.followed, other].sort((one, two) => one - two);
        const of = (followed: number) => billsOf({ ...given, followed }, stack)[way].usdPerMonth;
        expect(of(more)).toBeGreaterThanOrEqual(of(less) - 1e-9);
      }),
    );
  });

  it('on AWS is more than nothing while nothing happens: polls, alarms, metrics, secrets and watchers', () => {
    const at = { shoots: 10, seeds: 1, followed: 0.5 };
    const bill = billsOf(at, stack, idle).aws;
    const zero = bill.items.filter(({ usdPerMonth }) => usdPerMonth === 0).map(({ what }) => what);
    expect(zero).toEqual(['Lambda', 'SQS: messages', 'CloudWatch: logs']);
  });
});

describe('what AWS bills for', () => {
  const at = { shoots: 1000, seeds: 1, followed: 1 };

  it('counts polls of empty queues: five connections, three times a minute', () => {
    expect(pollsPerHour(model)).toBe(900);
    const perMonth = 900 * model.assumptions.hoursPerMonth;
    expect(itemOf('SQS: polls of empty queues', at)).toBeCloseTo((perMonth * (5 * 0.5 + 0.4)) / 1e6);
  });

  it('counts a heartbeat of each watcher once a minute, and each time series', () => {
    expect(HEARTBEATS_PER_HOUR).toBe(60);
    expect(itemOf('CloudWatch: metrics and heartbeats', at)).toBeCloseTo(62 * 0.3 + (60 * 730 * 0.01) / 1000);
  });

  it('counts a secret for each cluster', () => {
    expect(itemOf('Secrets Manager', at, idle)).toBeCloseTo(2 * 0.4);
  });

  it('counts the time of a Lambda: CPU on its part of a processor, and requests one after the other', () => {
    const work = { ...nothing, invocations: 3_600_000, seed: 7_200_000 };
    const usage = { ...model.usage, warmCpuMs: { ...model.usage.warmCpuMs, value: 10 } };
    const { gbSeconds } = lambdaPerHour(at, work, stack, {
      ...{ ...model, usage },
      assumptions: { ...model.assumptions, memoryOfOneCpuMb: 1024, requestMs: 5, instanceHours: 1e9 },
    });
    // 20 ms of CPU on half a processor, and two requests of 5 ms, with half a GB.
    expect(gbSeconds).toBeCloseTo(3_600_000 * 0.03 * 0.5, 0);
  });

  it('has a cold start for nearly every run of a few Shoots, and for few of many', () => {
    const coldShare = (shoots: number) => {
      const work = { ...nothing, invocations: shoots };
      return lambdaPerHour({ ...at, shoots }, work, stack, model).coldStarts / shoots;
    };
    expect(coldShare(1)).toBeGreaterThan(0.9);
    expect(coldShare(1000)).toBeLessThan(0.01);
  });
});

describe('Pods', () => {
  it('of one Deployment per seed use what the bench measured with 10,000 Shoots', () => {
    const { pods, vcpus, memoryGb } = deploymentPods({ shoots: 10_000, seeds: 1, followed: 1 }, model);
    expect({ pods, vcpus, memoryGb }).toEqual({ pods: 1, vcpus: 0.2, memoryGb: 0.2 });
  });

  it('count with what they reserve while they use less', () => {
    const { vcpus, memoryGb } = deploymentPods({ shoots: 10, seeds: 1, followed: 1 }, model);
    expect({ vcpus, memoryGb }).toEqual({ vcpus: 0.05, memoryGb: 0.134 });
  });

  it('on Knative are a bridge, and instances only as long as events come', () => {
    const pods = (shoots: number) => knativePods({ shoots, seeds: 1, followed: 1 }, model).pods;
    expect(pods(1)).toBeGreaterThan(1);
    expect(pods(1)).toBeLessThan(2.5);
    expect(pods(10_000)).toBeCloseTo(3);
    expect(pods(10_001)).toBeCloseTo(6);
  });
});

describe('the work of an hour', () => {
  it('is that of Shoots at rest, and a share of what happens in a month', () => {
    const one = (invocations: number): Activity => ({ ...nothing, invocations });
    const given = { followed: one(8), released: one(2), edit: one(10), reconcile: one(20), create: one(100) };
    const rates = { hoursPerMonth: 10, editsPerMonth: 1, reconciliationsPerMonth: 2, createdPerMonth: 0.1 };
    const work = workPerHour({ shoots: 100, seeds: 1, followed: 0.25 }, given, { ...model.assumptions, ...rates });
    expect(work).toEqual({ ...nothing, invocations: 100 * (2 + 1.5 + 1 + 4 + 1) });
  });
});

it('a price counts for so many units', () => {
  expect(costOf(prices.sqsFifo, 2_000_000)).toBeCloseTo(1);
  expect(costOf(prices.secretCall, 5_000)).toBeCloseTo(0.025);
});
