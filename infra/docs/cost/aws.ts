import { WATCHER_HEARTBEAT_SECONDS } from '../../aws/watcher-metric.ts';
import type { Landscape } from './assumptions.ts';
import type { Activity } from './inputs.ts';
import type { Model } from './model.ts';
import { costOf, type Item } from './prices.ts';
import { apiRequests, workPerHour } from './work.ts';

/** What a deployment on AWS consists of, from its template. */
export interface Stack {
  fifoQueues: number;
  standardQueues: number;
  alarms: number;
  /** One for each cluster: its address. */
  secrets: number;
  /** Heartbeats of watchers, one for each cluster. */
  heartbeats: number;
  /** Time series that the functions write. */
  functionMetrics: number;
}

/** A watcher sends those of all its clusters in one request. */
export const HEARTBEATS_PER_HOUR = 3600 / WATCHER_HEARTBEAT_SECONDS;

/** Returns what AWS bills for in a month. */
export function awsItems(landscape: Landscape, stack: Stack, model: Model): Item[] {
  const { assumptions, prices, usage } = model;
  const { hoursPerMonth } = assumptions;
  const work = workPerHour(landscape, model.activities, assumptions);
  const lambda = lambdaPerHour(landscape, work, stack, model);
  const polls = pollsPerHour(model);
  const monthly = (perHour: number) => perHour * hoursPerMonth;
  const heartbeatCalls = monthly(landscape.seeds * HEARTBEATS_PER_HOUR);
  const logGb = (work.invocations * (usage.logBytes.value + assumptions.platformLogBytes)) / 1e9;
  return [
    {
      what: 'Lambda',
      usdPerMonth:
        costOf(prices.lambdaGbSecond, monthly(lambda.gbSeconds)) +
        costOf(prices.lambdaRequest, monthly(work.invocations)),
    },
    {
      what: 'SQS: messages',
      usdPerMonth: costOf(prices.sqsFifo, monthly(work.fifo)) + costOf(prices.sqsStandard, monthly(work.standard)),
    },
    {
      what: 'SQS: polls of empty queues',
      usdPerMonth:
        costOf(prices.sqsFifo, monthly(polls * stack.fifoQueues)) +
        costOf(prices.sqsStandard, monthly(polls * stack.standardQueues)),
    },
    { what: 'CloudWatch: logs', usdPerMonth: costOf(prices.logGb, monthly(logGb)) },
    {
      what: 'CloudWatch: metrics and heartbeats',
      usdPerMonth:
        costOf(prices.metric, stack.functionMetrics + stack.heartbeats) + costOf(prices.metricCall, heartbeatCalls),
    },
    { what: 'CloudWatch: alarms', usdPerMonth: costOf(prices.alarm, stack.alarms) },
    {
      what: 'Secrets Manager',
      usdPerMonth: costOf(prices.secret, stack.secrets) + costOf(prices.secretCall, monthly(lambda.secretReads)),
    },
  ];
}

/** How often AWS asks each queue while it is empty. Polls go on while there are messages, so this is an upper bound. */
export function pollsPerHour({ assumptions: { pollers, pollSeconds } }: Pick<Model, 'assumptions'>): number {
  return (pollers * 3600) / pollSeconds;
}

export interface LambdaUse {
  gbSeconds: number;
  coldStarts: number;
  secretReads: number;
}

/**
 * Returns what the Lambdas use in an hour. A run takes its CPU time on the part of a processor that AWS gives, and waits
 * for its requests one after the other.
 */
export function lambdaPerHour(landscape: Landscape, work: Activity, stack: Stack, model: Model): LambdaUse {
  const { assumptions, usage } = model;
  const { lambdaMb, memoryOfOneCpuMb, requestMs, warmSeconds, instanceHours } = assumptions;
  const slowness = memoryOfOneCpuMb / lambdaMb;
  // A run sends its own changes: SQS is asked at most once for each message.
  const warmMs = work.invocations * usage.warmCpuMs.value * slowness + (apiRequests(work) + work.messages) * requestMs;
  // The functions with nearly all runs have one for each Shoot and hour at least, and these come at any time.
  const coldShare = Math.exp((-landscape.shoots * warmSeconds) / 3600);
  const instances = warmMs / 3_600_000;
  const coldStarts = work.invocations * coldShare + instances / instanceHours;
  const coldMs = coldStarts * (usage.coldInitMs.value + usage.coldFirstMs.value) * slowness;
  return {
    gbSeconds: ((warmMs + coldMs) / 1000) * (lambdaMb / 1024),
    coldStarts,
    // A cold start reads the addresses of garden and seed; an instance meets the other seeds later.
    secretReads: work.invocations * coldShare * 2 + (instances / instanceHours) * stack.secrets,
  };
}
