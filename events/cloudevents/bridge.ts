import { RetryableError, TerminalError } from '../../shared/errors.ts';
import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import type { ClusterHealth } from '../../shared/runtime/cluster-health.ts';
import { keyText } from '../../shared/runtime/key.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { safeText } from '../../shared/runtime/safe-text.ts';
import { type Change, parseChange } from '../change.ts';
import { createDeadLetters, type DeadLetters } from '../queue/dead-letters.ts';
import type { Queue } from '../queue/queue.ts';
import { requeue } from '../run/requeue.ts';
import { decideRetry, LAST_ATTEMPT, SHORT_ATTEMPTS } from '../run/retry.ts';
import type { Answer, Receive } from './answer.ts';
import { type Attributes, DELAY, LONGEST_TYPE, typeOf } from './event.ts';

/**
 * What the bridge does besides sending: it keeps the changes that wait, and what brokers have given up. Both are in memory
 * only: the first list and the resync cover what is lost.
 */
export interface EventBridge {
  /** Takes events of changes that wait, and dead letters of the broker. */
  receive: Receive;
  deadLetters: Pick<DeadLetters, 'list'>;
  /** How many changes wait. */
  waiting(): number;
}

export interface EventBridgeOptions {
  /** Names of the functions whose changes it takes: each has metrics of its own, and the sender is unknown. */
  functions: readonly string[];
  /** Holds changes until they are due, and sends them. */
  queue: Pick<Queue, 'add' | 'depths'>;
  health: Pick<ClusterHealth, 'isUp'>;
  log: Log;
  metrics: Metrics;
  now?: () => Date;
}

/** No more changes wait: five for each of the 10,000 Shoots that one bridge is for, in less memory than its Pod has. */
const MOST = 50_000;
/** No function waits longer, and the resync comes every hour: a wrong time holds up no key for longer than that. */
const LONGEST_WAIT_MS = 3_600_000;

/** Creates the bridge of the changes in a queue. */
export function createEventBridge({
  functions,
  queue,
  health,
  log,
  metrics,
  now = () => new Date(),
}: EventBridgeOptions): EventBridge {
  const deadLetters = createDeadLetters((name) => metrics.count('dead_letters_dropped_total', { function: name }));

  const waiting = () => queue.depths().reduce((sum, { depth }) => sum + depth.delayed, 0);
  const keep = ({ function: name, key, cause }: ChangeRequest) => {
    if (waiting() >= MOST) {
      throw new RetryableError(`The bridge holds ${MOST} changes that wait, and takes no more for now.`);
    }
    const due = 'notBefore' in cause && cause.notBefore !== undefined ? Date.parse(cause.notBefore) : 0;
    queue.add(name, key, cause, Math.min(LONGEST_WAIT_MS, Math.max(0, due - now().getTime())));
  };

  const takeDeadLetter = async (change: Change, attributes: Attributes) => {
    const { function: name, key, cause } = change;
    const next = afterDeadLetter(change, attributes, health.isUp(key.cluster));
    if (next.type === 'drop') return;
    if (next.type === 'retry') {
      const later = { sendDelayed: async (due: ChangeRequest) => keep(due) };
      return requeue({ name, queue: 'fifo', now, sender: later }, change, next.seconds, next.attempt);
    }
    const reason = safeText(next.reason);
    metrics.count('terminal_total', { function: name });
    deadLetters.add({ function: name, key, causes: [cause], reason, attempts: next.attempts }, now());
    log.error('dead letter', { function: name, key: keyText(key), error: reason });
  };

  return {
    deadLetters,
    waiting,
    async receive({ attributes, data }): Promise<Answer> {
      const change = parseChange(data);
      if (!functions.includes(change.function)) {
        throw new TerminalError(`There is no function ${change.function}; send changes of ${functions.join(', ')}.`);
      }
      if ('knativeerrordest' in attributes) await takeDeadLetter(change, attributes);
      else if (attributes.type === typeOf(DELAY)) keep(change);
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
