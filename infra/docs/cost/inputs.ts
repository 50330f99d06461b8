// What the model of costs takes as given. Every number is the limit of a line of `npm run bench`, so that the bench
// shows when the page has become untrue; test/integration/cost-inputs.test.ts compares them.

/** What something that happens to a Shoot causes. */
export interface Activity {
  /** Runs of all functions, with those of `delay` where the queue is SQS. */
  invocations: number;
  /** API requests of the functions, by cluster. */
  garden: number;
  seed: number;
  shoot: number;
  /** Requests to SQS that carry messages: sent, received and deleted. */
  fifo: number;
  standard: number;
  /** Messages in SQS. */
  messages: number;
  /** CloudEvents that the Broker takes; on Knative they take the place of messages. */
  events: number;
}

type Measure = keyof Activity;

/** At rest for each Shoot and hour, otherwise for each Shoot and event. */
export const activities = {
  followed: { invocations: 14, garden: 5, seed: 30, shoot: 20, fifo: 24, standard: 20, messages: 15, events: 14 },
  released: { invocations: 3, garden: 5, seed: 9, shoot: 4, fifo: 8, standard: 1, messages: 3, events: 3 },
  edit: { invocations: 22, garden: 18, seed: 55, shoot: 25, fifo: 36, standard: 30, messages: 23, events: 21 },
  reconcile: { invocations: 14, garden: 5, seed: 30, shoot: 18, fifo: 24, standard: 21, messages: 14, events: 12 },
  create: { invocations: 38, garden: 45, seed: 100, shoot: 48, fifo: 68, standard: 54, messages: 40, events: 40 },
} satisfies Record<string, Activity>;

export type ActivityName = keyof typeof activities;

/** How the lines of the bench name the activities. */
export const activityTexts: Record<ActivityName, string> = {
  followed: 'an hour at rest of a Shoot that is followed and Ready',
  released: 'an hour at rest of a Shoot that is released',
  edit: 'an edit of flux-config, for each of five Shoots that follow it',
  reconcile: 'a reconciliation by gardenlet that changes nothing',
  create: 'a new Shoot, in its first hour',
};

/** How the lines of the bench name what is counted, and its unit. */
export const measureTexts: Record<Measure, { what: string; unit: 'runs' | 'requests' | 'messages' | 'events' }> = {
  invocations: { what: 'invocations of Lambdas', unit: 'runs' },
  garden: { what: 'API requests to the garden', unit: 'requests' },
  seed: { what: 'API requests to the seed', unit: 'requests' },
  shoot: { what: 'API requests to the shoot', unit: 'requests' },
  fifo: { what: 'requests to FIFO queues', unit: 'requests' },
  standard: { what: 'requests to the delay queue', unit: 'requests' },
  messages: { what: 'messages in queues', unit: 'messages' },
  events: { what: 'CloudEvents', unit: 'events' },
};

/** The line of the bench `cost` that counts this. */
export function lineOf(activity: ActivityName, measure: Measure): string {
  return `${activityTexts[activity]}: ${measureTexts[measure].what}`;
}

/** An input with the line of the bench that measures it. */
export interface Input {
  value: number;
  unit: 'MB' | 'ms' | '%' | 'bytes';
  bench: string;
  line: string;
}

const input = (value: number, unit: Input['unit'], bench: string, line: string): Input => ({
  value,
  unit,
  bench,
  line,
});

/** What processes and Lambdas need. */
export const usage = {
  runIdleMb: input(100, 'MB', 'start', 'memory of `run`, idle'),
  runFullMb: input(200, 'MB', 'first list', 'memory of `run` with 10,000 Shoots at rest'),
  releasedCpu: input(5, '%', 'first list', 'CPU at rest, 10,000 Shoots, released'),
  followedCpu: input(20, '%', 'edit', 'CPU at rest, 10,000 Shoots, followed and Ready'),
  watchMb: input(170, 'MB', 'watcher', '`watch` with them and queues in SQS: memory, idle'),
  coldInitMs: input(250, 'ms', 'lambda', 'Lambda under its runtime client: start until it asks for a change'),
  coldFirstMs: input(400, 'ms', 'lambda', 'Lambda under its runtime client: the first change handled, cold'),
  warmCpuMs: input(
    15,
    'ms',
    'cost',
    'CPU of a warm Lambda for one change that changes nothing, the most of all functions',
  ),
  logBytes: input(1000, 'bytes', 'cost', 'log and metrics of a warm Lambda for one change, the most of all functions'),
} satisfies Record<string, Input>;

/** How long a change takes, for the comparison of the ways. */
export const latencies = {
  warmMs: input(150, 'ms', 'latency', 'change written until ManagedResources are written, warm'),
  coldMs: input(300, 'ms', 'latency', 'change written until ManagedResources are written, cold'),
  instanceMs: input(300, 'ms', 'knative', 'Knative Service `managed-resources`: process start to ready'),
} satisfies Record<string, Input>;

/** The number of Shoots to which the inputs with "10,000" refer. */
export const MEASURED_SHOOTS = 10_000;
