import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { runnerOf, runOnce } from '../../events/run.ts';
import { asRun, onActivity } from '../../shared/runtime/activity.ts';
import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import { createClusterHealth } from '../../shared/runtime/cluster-health.ts';
import { kubeconfigFiles } from '../../shared/runtime/clusters.ts';
import type { Handler } from '../../shared/runtime/context.ts';
import { findFunctions, findWebhooks } from '../functions.ts';
import { answererOf } from '../webhooks/answer.ts';
import { clientsOf } from './clients.ts';
import {
  type FromThread,
  forwardedLog,
  forwardedMetrics,
  inOrder,
  type Job,
  plainError,
  type ThreadData,
  type ToThread,
} from './thread-messages.ts';

/** Often enough that eight missing ones mean that the thread is stuck. */
const BEAT_MS = 100;

/** Runs functions and answers reviews in this thread until the process terminates it. */
async function serve(port: MessagePort, data: ThreadData): Promise<void> {
  const { kubeconfigs, settings, beats, executing } = data;
  const post = inOrder(port);
  const log = forwardedLog(post);
  const metrics = forwardedMetrics(post);
  const suspected = new Set<string>();
  const onAnswered = (cluster: string) => suspected.delete(cluster) && post({ type: 'up', cluster });
  const health = createClusterHealth({ onAnswered });
  const clients = { credentials: () => kubeconfigFiles(kubeconfigs), metrics, health };
  const aborts = new Map<number, AbortController>();
  const send = async (changes: ChangeRequest[]) => post({ type: 'send', changes });
  const dependencies = { settings, log, metrics };
  const functions = new Map(
    (await findFunctions()).map((found) => {
      const { name } = found.definition;
      return [name, { ...found, kube: clientsOf(name, clients) }] as const;
    }),
  );
  const answerers = new Map(
    (await findWebhooks()).map((webhook) => {
      const { name } = webhook.definition;
      return [name, answererOf(webhook, { ...dependencies, kube: clientsOf(name, clients) })] as const;
    }),
  );

  const run = async (job: Extract<Job, { type: 'run' }>, signal: AbortSignal): Promise<FromThread> => {
    const { id, key, causes, endedBefore } = job;
    const found = functions.get(job.function);
    if (found === undefined) throw new TypeError(`Function ${job.function} does not exist.`);
    const { definition, handler: invoke, kube } = found;
    const handler: Handler = (key, context) => invoke(key, { ...context, endedBefore });
    const runner = runnerOf({ definition, handler }, { ...dependencies, kube, now: () => new Date(), send });
    const [first, ...rest] = causes.map((cause) => ({ function: job.function, key, cause }));
    if (first === undefined) throw new TypeError('A run needs a cause.');
    const run = { changes: [first, ...rest] as const, attempt: 1, dueAt: 0, superseded: 0 };
    const result = await runOnce(runner, run, signal);
    if (result.type === 'failed') throw result.error;
    return { type: 'ran', id, outcome: result };
  };
  const work = async (job: Job) => {
    const ending = new AbortController();
    aborts.set(job.id, ending);
    try {
      if (job.type === 'run') return post(await run(job, ending.signal));
      const answer = await answerers.get(job.function)?.(Buffer.from(job.body), ending.signal);
      if (answer === undefined) throw new TypeError(`Webhook ${job.function} does not exist.`);
      post({ type: 'answered', id: job.id, answer });
    } catch (error) {
      post({ type: 'failed', id: job.id, error: plainError(error) });
    } finally {
      aborts.delete(job.id);
    }
  };

  onActivity((id) => Atomics.store(executing, 0, id));
  health.attachProber((cluster) => {
    suspected.add(cluster);
    post({ type: 'suspect', cluster });
  });
  health.onChange((cluster, isUp) => isUp && post({ type: 'up', cluster }));
  const beat = () => Atomics.add(beats, 0, 1);
  beat();
  setInterval(beat, BEAT_MS);
  // At once: the first job may block the thread before its turn ends.
  port.postMessage([{ type: 'started' } satisfies FromThread]);
  port.on('message', (message: ToThread) => {
    if (message.type === 'abort') aborts.get(message.id)?.abort();
    else if (message.type === 'cluster') health.declare(message.cluster, message.problem);
    else void asRun(message.id, () => work(message));
  });
}

// A failure ends the thread, with its reason.
if (parentPort !== null) void serve(parentPort, workerData);
