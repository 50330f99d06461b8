// Factories and helpers for tests of the path of changes.
import { randomUUID } from 'node:crypto';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import type { Cause, ChangeRequest } from '../shared/runtime/change-request.ts';
import type { Handler, Settings } from '../shared/runtime/context.ts';
import type { FunctionDefinition } from '../shared/runtime/definition.ts';
import { createLog, type Log } from '../shared/runtime/log.ts';
import { type Labels, type Metrics, noMetrics } from '../shared/runtime/metrics.ts';
import { encodeChange } from './change.ts';
import type { ProcessDependencies, QueueFunction } from './run.ts';
import { messageGroup } from './sqs/sender.ts';

/** A change of an Extension for `managed-resources`. */
export function changeOf(overrides: Partial<ChangeRequest> = {}): ChangeRequest {
  const key = { cluster: 'local', namespace: 'shoot--dev--apple', name: 'shoot-flux' };
  return { function: 'managed-resources', key, cause: causeOf(), ...overrides };
}

/** The cause that an object changed; by default an Extension. */
export function causeOf(overrides: Partial<Extract<Cause, { type: 'object' }>> = {}): Cause {
  return {
    type: 'object',
    cluster: 'local',
    kind: 'Extension',
    namespace: 'shoot--dev--apple',
    name: 'shoot-flux',
    uid: '3f6c1b7e',
    resourceVersion: '1',
    ...overrides,
  };
}

/** The key of the n-th Shoot. */
export function keyOf(n: number): ChangeRequest['key'] {
  return { cluster: 'local', namespace: `shoot--dev--s${n}`, name: 'shoot-flux' };
}

/** What the functions read of a record that Lambda hands to them. */
export function recordOf(
  change: ChangeRequest,
  overrides: Partial<SQSRecord> & { receiveCount?: number } = {},
): SQSRecord {
  const { receiveCount = 1, ...rest } = overrides;
  const attributes = {
    ApproximateReceiveCount: String(receiveCount),
    SentTimestamp: String(Date.now()),
    MessageGroupId: messageGroup(change),
    ...rest.attributes,
  };
  const ids = { messageId: randomUUID(), receiptHandle: randomUUID() };
  return { ...ids, body: encodeChange(change), ...rest, attributes } as SQSRecord;
}

export function eventOf(...Records: SQSRecord[]): SQSEvent {
  return { Records };
}

/** Returns the context of one invocation: the function's name, and how much of its time is left. */
export function lambdaContext(name: string, timeoutSeconds: number): Context {
  const end = performance.now() + timeoutSeconds * 1000;
  const getRemainingTimeInMillis = () => end - performance.now();
  return { functionName: name, awsRequestId: randomUUID(), getRemainingTimeInMillis } as Context;
}

export function definitionOf(name: string, overrides: Partial<FunctionDefinition> = {}): FunctionDefinition {
  const nothing = { subscriptions: [], resync: false, sends: false, rights: { garden: [], seed: [] } };
  return { name, description: 'A function of a test.', ...nothing, ...overrides };
}

/** A function with a handler of the test. */
export function functionOf(handler: Handler, name = 'managed-resources'): QueueFunction {
  return { definition: definitionOf(name), handler };
}

const settings: Settings = {
  ...{ version: '0.1.0', landscape: 'test', seeds: ['local'], fluxDistribution: 'none' },
  ...{ shootHealth: false, shootAccess: 'internal' },
};

/** The dependencies of a function that reaches no cluster. */
export function processDependencies(overrides: Partial<ProcessDependencies> = {}): ProcessDependencies {
  return {
    kube: (cluster) => Promise.reject(new Error(`no cluster ${cluster} in this test`)),
    settings,
    now: () => new Date(),
    log: createLog('error', () => {}),
    metrics: noMetrics,
    ...overrides,
  };
}

/** A log that keeps its lines. */
export function keptLog(): { log: Log; lines: Record<string, unknown>[]; text(): string } {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('debug', (line) => lines.push(JSON.parse(line)));
  return { log, lines, text: () => lines.map((line) => JSON.stringify(line)).join('\n') };
}

/**
 * Metrics that remember the sum of each counter and how often a duration was observed.
 * @throws Error when a metric changes the names of its labels, as Prometheus does
 */
export function keptMetrics(): { metrics: Metrics; sums: Map<string, number> } {
  const sums = new Map<string, number>();
  const labelNames = new Map<string, string>();
  const add = (name: string, labels: Labels = {}, by = 1) => {
    const names = Object.keys(labels).sort().join();
    const before = labelNames.get(name) ?? names;
    if (before !== names) throw new Error(`${name} has the labels "${names}" here and "${before}" elsewhere.`);
    labelNames.set(name, names);
    const id = `${name}{${Object.entries(labels).map(([label, value]) => `${label}=${value}`)}}`;
    sums.set(id, (sums.get(id) ?? 0) + by);
  };
  return { metrics: { count: add, gauge: () => {}, observe: (name, _, labels) => add(name, labels) }, sums };
}

/** A message in the SQS emulator. */
export interface SeenMessage {
  body: string;
  messageGroupId?: string;
  messageAttributes: Record<string, { StringValue?: string }>;
  sentTimestamp: number;
  delayUntil?: number;
}

/** Returns the messages in a queue of the SQS emulator, without receiving them. */
export async function lookInto(
  endpoint: string,
  queue: string,
): Promise<{ ready: SeenMessage[]; delayed: SeenMessage[] }> {
  const response = await fetch(`${endpoint}/_fauxqs/queues/${queue}`);
  if (!response.ok) throw new Error(`queue ${queue}: HTTP ${response.status}`);
  const { messages } = (await response.json()) as { messages: Awaited<ReturnType<typeof lookInto>> };
  return messages;
}
