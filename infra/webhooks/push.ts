import { DNS_LABEL } from '../../shared/kube/resource.ts';
import { resuming } from '../../shared/runtime/activity.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import type { PushCall, PushResult } from '../../shared/runtime/webhook.ts';
import type { PushWebhook } from '../functions.ts';
import { type AnswerDependencies, type HttpAnswer, sentenceAnswer, tooLong } from './answer.ts';

/** Where Git hosts report pushes; the namespace of the project follows. */
export const PUSH_PATH = '/push/';

/** Git hosts report the commits of a push, some hundred bytes each. */
export const MOST_PUSH_BYTES = 1024 * 1024;

/** Calls that read the garden at a time: anybody can send them. */
const MOST_CALLS = 16;

/** The same for every project, so that nobody learns which ones there are. */
const answers: Record<PushResult, HttpAnswer> = {
  accepted: sentenceAnswer(202, 'Flux will fetch.'),
  refused: sentenceAnswer(401, 'This is not the signature or token of the project, or the project takes no pushes.'),
  failed: sentenceAnswer(503, 'The push could not be noted; send it again.'),
};

export type PushAnswerer = ReturnType<typeof pushAnswerer>;

/** Returns what answers Git hosts, by the path of the URL from `PUSH_PATH` on. */
export function pushAnswerer(
  { definition: { name }, handler }: PushWebhook,
  { kube, log, metrics }: Pick<AnswerDependencies, 'kube' | 'log' | 'metrics'>,
) {
  let calls = 0;
  const resultOf = async (call: PushCall, signal: AbortSignal): Promise<PushResult> => {
    if (calls >= MOST_CALLS) return 'failed';
    calls += 1;
    const own = log.with({ function: name });
    const client = async (cluster: string) => resuming(await kube(cluster, signal));
    try {
      return await handler(call, { kube: client, now: () => new Date(), log: own });
    } catch (error) {
      own.error('push failed', { error: describeError(error) });
      return 'failed';
    } finally {
      calls -= 1;
    }
  };
  return async (path: string, call: Omit<PushCall, 'namespace'>, signal: AbortSignal): Promise<HttpAnswer> => {
    const namespace = path.slice(PUSH_PATH.length).replace(/\?.*$/s, '');
    if (!DNS_LABEL.test(namespace)) return sentenceAnswer(404, 'Not found.');
    if (call.body.length > MOST_PUSH_BYTES) return tooLong(MOST_PUSH_BYTES);
    const result = await resultOf({ ...call, namespace }, signal);
    metrics.count('pushes_total', { result });
    return answers[result];
  };
}
