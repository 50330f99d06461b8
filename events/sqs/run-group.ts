import type { KubeClient } from '../../shared/kube/client.ts';
import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import type { Context, Settings } from '../../shared/runtime/context.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { keyText } from '../../shared/runtime/key.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { Outcome } from '../../shared/runtime/outcome.ts';
import type { Change } from '../change.ts';
import { withinTime } from './deadline.ts';
import type { Group } from './groups.ts';
import { type Ending, report } from './report.ts';
import { requeueTime } from './requeue.ts';
import { decideRetry } from './retry.ts';
import type { Sender } from './sender.ts';
import type { ChangeVisibility } from './visibility.ts';

/** What a function needs from the process that runs it. */
export interface RunnerDependencies {
  /** Clients for `garden` and seeds; their calls end with the signal. */
  kube(cluster: string, signal: AbortSignal): Promise<KubeClient>;
  settings: Settings;
  sender: Sender;
  /** For the queue that the records come from. */
  visibility: ChangeVisibility;
  now(): Date;
  log: Log;
  metrics: Metrics;
}

/** A function and its queue. */
export interface Runner extends RunnerDependencies {
  name: string;
  queue: 'fifo' | 'standard';
  invoke(change: Change, context: Context): Promise<Outcome>;
  /** The attempt after which a change is given up. */
  lastAttempt: number;
}

/**
 * One run for the changes of one key. Returns the ids of the messages that are to come again: none, or the oldest. The
 * others are superseded either way, because the oldest one's next run reads what they are about.
 */
export async function runGroup(runner: Runner, group: Group, signal: AbortSignal): Promise<string[]> {
  const started = performance.now();
  const ending = await runHandler(runner, group, signal);
  report(runner, group, ending, (performance.now() - started) / 1000);
  return ending.comesAgain ? [group.records[0].messageId] : [];
}

async function runHandler(runner: Runner, group: Group, signal: AbortSignal): Promise<Ending> {
  try {
    const outcome = await withinTime(runner.invoke(group.changes[0], contextOf(runner, group, signal)), signal);
    if (outcome.type === 'done') return { result: 'done' };
    // Sent first, acknowledged after: killed in between, the change comes twice, which is harmless.
    await sendDelayed(runner, group, outcome.afterSeconds);
    return { result: 'requeue', seconds: outcome.afterSeconds };
  } catch (error) {
    return handleFailure(runner, group, error);
  }
}

async function handleFailure(runner: Runner, group: Group, error: unknown): Promise<Ending> {
  const { attempt } = group;
  const retry = decideRetry(error, attempt, Math.random(), runner.lastAttempt);
  const seconds = retry.type === 'deadLetter' ? 60 : retry.seconds;
  try {
    if (retry.type === 'deadLetter') {
      await giveUp(runner, group, error, attempt);
      return { result: 'dead_letter', error };
    }
    if (retry.type === 'delay' && runner.queue === 'fifo') {
      await sendDelayed(runner, group, seconds, attempt);
      return { result: 'retry', seconds, error };
    }
  } catch (failure) {
    // The message is still in its queue, which is as good a place to wait.
    runner.log.warn('not sent on', { function: runner.name, error: describeError(failure) });
  }
  await hide(runner, group, seconds);
  return { result: 'retry', seconds, error, comesAgain: true };
}

/** `attempt` when the run has failed: counting goes on, because the next message has its own receive count. */
function sendDelayed(runner: Runner, group: Group, afterSeconds: number, attempt?: number): Promise<void> {
  const [change] = group.changes;
  if (runner.queue === 'standard') return runner.sender.sendDelayed(change, afterSeconds);
  const now = runner.now();
  const notBefore = requeueTime(now, afterSeconds);
  const again: ChangeRequest = {
    function: runner.name,
    key: change.key,
    cause: { type: 'notBefore', notBefore: notBefore.toISOString(), attempt },
  };
  return runner.sender.sendDelayed(again, (notBefore.getTime() - now.getTime()) / 1000);
}

function giveUp(runner: Runner, { records: [record] }: Group, error: unknown, attempt: number): Promise<void> {
  return runner.sender.sendToDeadLetter({
    function: runner.name,
    body: record.body,
    reason: `${describeError(error)} (attempt ${attempt})`,
    messageId: record.messageId,
    groupId: record.attributes.MessageGroupId,
  });
}

/** Without it the message comes again when its visibility ends by itself. */
async function hide(runner: Runner, { records: [record] }: Group, seconds: number): Promise<void> {
  try {
    await runner.visibility(record.receiptHandle, seconds);
  } catch (failure) {
    runner.log.warn('visibility not changed', { function: runner.name, error: describeError(failure) });
  }
}

function contextOf(runner: Runner, group: Group, signal: AbortSignal): Context {
  const { settings, sender, now, metrics, name } = runner;
  const { key } = group.changes[0];
  return {
    kube: (cluster) => runner.kube(cluster, signal),
    settings,
    send: (changes) => sender.send(changes),
    causes: group.changes.map(({ cause }) => cause),
    now,
    log: runner.log.with({ function: name, key: keyText(key) }),
    metrics,
    signal,
  };
}
