/** A list price in USD. */
export interface Price {
  usd: number;
  /** For how many units. */
  per: number;
  unit: string;
}

/** Where and when these are list prices. Decision 48 says how they were verified. */
export const PRICES_OF =
  'list prices of AWS in us-east-1, as articles quote them in 2025 and until June 2026, without taxes, discounts and free tiers';

const price = (usd: number, per: number, unit: string): Price => ({ usd, per, unit });

export const prices = {
  lambdaGbSecond: price(0.0000133334, 1, 'GB-second of Lambda on arm64'),
  lambdaRequest: price(0.2, 1_000_000, 'invocations of Lambda'),
  sqsFifo: price(0.5, 1_000_000, 'requests to FIFO queues of SQS'),
  sqsStandard: price(0.4, 1_000_000, 'requests to standard queues of SQS'),
  secret: price(0.4, 1, 'secret in Secrets Manager and month'),
  secretCall: price(0.05, 10_000, 'reads of secrets'),
  alarm: price(0.1, 1, 'CloudWatch alarm and month'),
  metric: price(0.3, 1, 'metric of our own in CloudWatch and month'),
  metricCall: price(0.01, 1_000, 'requests that write metrics, such as heartbeats'),
  logGb: price(0.5, 1, 'GB of logs'),
  vcpuHour: price(0.04048, 1, 'vCPU-hour in a cluster (that of AWS Fargate)'),
  memoryGbHour: price(0.004445, 1, 'GB-hour of memory in a cluster (that of AWS Fargate)'),
} satisfies Record<string, Price>;

/** Returns what so many units cost, in USD. */
export function costOf({ usd, per }: Price, units: number): number {
  return (usd * units) / per;
}

/** A part of a bill. */
export interface Item {
  what: string;
  usdPerMonth: number;
}
