import { RetryableError, TerminalError } from '../../shared/errors.ts';
import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import type { ClusterHealth } from '../../shared/runtime/cluster-health.ts';
import { keyText } from '../../shared/runtime/key.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { safeText } from '../../shared/runtime/safe-text.ts';
import { type Change, parseChange } from '../change.ts';
import { createDeadLetters, type DeadLetters } from '../queue/dead-letters.ts';
import { requeue } from '../run/requeue.ts';
import { decideRetry, LAST_ATTEMPT, SHORT_ATTEMPTS } from '../run/retry.ts';
import type { Answer, Receive } from './answer.ts';
import { type Attributes, DELAY, LONGEST_TYPE, typeOf } from './event.ts';
import type { Sink } from './sink.ts';
import { createTimers } from './timers.ts';

/** What the bridge does besides sending: it keeps the timers, and what brokers have given up. */
export interface EventBridge {
  /** Takes events of changes that wait, and dead letters of the broker. */
  receive: Receive;
  deadLetters: Pick<DeadLetters, 'list'>;
  /** How many changes wait. */
  waiting(): number;
  stop(): void;
}

export interface EventBridgeOptions {
  /** Names of the functions whose changes it takes: each has metrics of its own, and the sender is unknown. */
  functions: readonly string[];
  sender: Sink['sender'];
  health: Pick<ClusterHealth, 'isUp' | 'onChange'>;
  log: Log;
  metrics: Metrics;
  now?: () => Date;
}

/** Starts without any timers. */
export function createEventBridge({
  functions,
  sender,
  health,
  log,
  metrics,
  now = () => new Date(),
}: EventBridgeOptions): EventBridge {
  const timers = createTimers({ send: sender.send, isUp: health.isUp, now: () => now().getTime(), log });
  const deadLetters = createDeadLetters((name) => metrics.count('dead_letters_dropped_total', { function: name }));
  const stopListening = health.onChange((cluster, isNowUp) => isNowUp && timers.resume(cluster));

  const takeDeadLetter = async (change: Change, attributes: Attributes) => {
    const { function: name, key, cause } = change;
    const next = afterDeadLetter(change, attributes, health.isUp(key.cluster));
    if (next.type === 'drop') return;
    if (next.type === 'retry') {
      const later = { sendDelayed: async (due: ChangeRequest) => timers.add(due) };
      return requeue({ name, queue: 'fifo', now, sender: later }, change, next.seconds, next.attempt);
    }
    const reason = safeText(next.reason);
    metrics.count('terminal_total', { function: name });
    deadLetters.add({ function: name, key, causes: [cause], reason, attempts: next.attempts }, now());
    log.error('dead letter', { function: name, key: keyText(key), error: reason });
  };

  return {
    deadLetters,
    waiting: timers.size,
    stop() {
      stopListening();
      timers.stop();
    },
    async receive({ attributes, data }): Promise<Answer> {
      const change = parseChange(data);
      if (!functions.includes(change.function)) {
        throw new TerminalError(`There is no function ${change.function}; send changes of ${functions.join(', ')}.`);
      }
      if ('knativeerrordest' in attributes) await takeDeadLetter(change, attributes);
      else if (attributes.type === typeOf(DELAY)) timers.add(change);
      else {
        throw new TerminalError(
          `The event of type ${safeText(attributes.type ?? '', LONGEST_TYPE)} is neither a dead letter nor a change that waits; correct the filter of the Trigger.`,
        );
      }
      return { status: 204 };
    },
  };
}

/** What follows when the broker has given an event up. */
type AfterDeadLetter =
  | { type: 'retry'; seconds: number; attempt: number }
  /** Nothing: the next resync looks at the key again. */
  | { type: 'drop' }
  | { type: 'deadLetter'; reason: string; attempts: number };

/**
 * Decides what follows when the broker has given an event up. A function that answered 400 or 422 has refused the
 * change. Otherwise only the broker's short retries are used up, and long ones follow, as in the queue of one process.
 * @param isUp whether the cluster of the key answers: while it does not, its changes are never given up
 */
function afterDeadLetter({ cause }: ChangeRequest, attributes: Attributes, isUp: boolean): AfterDeadLetter {
  const before = 'attempt' in cause ? (cause.attempt ?? 0) : 0;
  const attempts = Math.max(before, SHORT_ATTEMPTS) + 1;
  const reason = reasonOf(attributes);
  if (isPermanent(attributes.knativeerrorcode)) return { type: 'deadLetter', reason, attempts };
  if (cause.type === 'resync') return { type: 'drop' };
  const attempt = isUp ? attempts : Math.min(attempts, LAST_ATTEMPT - 1);
  // The grid of the key spreads long waits.
  const retry = decideRetry(new RetryableError(reason), attempt, 1);
  return retry.type === 'deadLetter'
    ? { type: 'deadLetter', reason, attempts }
    : { type: 'retry', seconds: retry.seconds, attempt };
}

/** Codes below 500 that a broker sends again. */
const PASSING = [404, 408, 409, 429];

/** Without a code there was no answer. */
function isPermanent(code: string | undefined): boolean {
  const status = Number(code);
  return status >= 300 && status < 500 && !PASSING.includes(status);
}

function reasonOf({ knativeerrordata: data = '', knativeerrorcode: code }: Attributes): string {
  return textOf(data).trim() || (Number(code) > 0 ? `The function answered ${code}.` : 'The function did not answer.');
}

/** Knative passes the answer on in Base64, in which a sentence with spaces never is. */
function textOf(data: string): string {
  const text = /^[A-Za-z0-9+/]+={0,2}$/.test(data) ? decoded(data) : data;
  return answerInside(text) ?? text;
}

/** Knative's filter wraps the answer of a function, and its dispatcher unwraps it only if it knows the filter by its host. */
function answerInside(text: string): string | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const { errresponsebody: body } = JSON.parse(text);
    return typeof body === 'string' ? decoded(body) : undefined;
  } catch {
    return undefined;
  }
}

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString();
}
