import { DNS_LABEL } from '../../shared/kube/resource.ts';
import { resuming } from '../../shared/runtime/activity.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import type { PushCall } from '../../shared/runtime/webhook.ts';
import type { PushWebhook } from '../functions.ts';
import { type AnswerDependencies, type HttpAnswer, sentenceAnswer } from './answer.ts';

/** Git hosts report the commits of a push, some hundred bytes each. What is longer is not reported, and Flux polls. */
export const MOST_PUSH_BYTES = 1024 * 1024;

/** Calls that read the garden at a time: anybody can send them. */
const MOST_CALLS = 16;

export const pushTooLong = sentenceAnswer(413, `The body is longer than ${MOST_PUSH_BYTES} bytes.`);
export const pushNotAllowed = sentenceAnswer(405, 'Send the report of a push with POST.');
const accepted = sentenceAnswer(202, 'Flux will fetch.');
/** The same for every project, so that nobody learns which ones there are. */
const refused = sentenceAnswer(
  401,
  'The signature or token is not that of this project, or the project takes no pushes.',
);
const busy = sentenceAnswer(503, 'There are too many calls at once; send it again.');
const failed = sentenceAnswer(503, 'shoot-flux could not note the push; send it again.');

/** Answers the calls of Git hosts. */
export interface PushServer {
  /** Returns the namespace that the path of a URL names; undefined where it is none for pushes. */
  namespaceAt(url: string): string | undefined;
  /** Answers a call, at the latest when the signal aborts. */
  answer(call: PushCall, signal: AbortSignal): Promise<HttpAnswer>;
}

/** Returns what answers Git hosts. */
export function pushServer(
  { definition, handler }: PushWebhook,
  { kube, log, metrics }: Pick<AnswerDependencies, 'kube' | 'log' | 'metrics'>,
): PushServer {
  const { name, pushPath } = definition;
  let calls = 0;
  return {
    namespaceAt(url) {
      const path = url.split('?', 1)[0] ?? '';
      const namespace = path.slice(pushPath.length);
      return path.startsWith(pushPath) && DNS_LABEL.test(namespace) ? namespace : undefined;
    },
    async answer(call, signal) {
      if (calls >= MOST_CALLS) return busy;
      calls += 1;
      const context = {
        kube: async (cluster: string) => resuming(await kube(cluster, signal)),
        now: () => new Date(),
        log: log.with({ function: name }),
      };
      const [result, answer] = await handler(call, context).then(
        (isAccepted) => (isAccepted ? (['accepted', accepted] as const) : (['refused', refused] as const)),
        (error) => {
          context.log.error('push failed', { error: describeError(error) });
          return ['failed', failed] as const;
        },
      );
      calls -= 1;
      metrics.count('pushes_total', { result });
      return answer;
    },
  };
}
