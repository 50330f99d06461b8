import { RetryableError, TerminalError } from '../../shared/errors.ts';
import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import type { ClusterHealth } from '../../shared/runtime/cluster-health.ts';
import { keyText } from '../../shared/runtime/key.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { safeText } from '../../shared/runtime/safe-text.ts';
import { parsedJson, textAt } from '../../shared/shapes.ts';
import { type Change, parseChange } from '../change.ts';
import type { Queue } from '../queue/queue.ts';
import { afterShortRetries, SHORT_ATTEMPTS } from '../retry.ts';
import { laterChange } from '../waits.ts';
import type { Answer } from './answer.ts';
import { type Attributes, type CloudEvent, DELAY, LONGEST_TYPE, typeOf } from './event.ts';

interface EventBridgeOptions {
  /** Names of the functions whose changes it takes: each has metrics of its own, and the sender is unknown. */
  functions: readonly string[];
  /** Holds changes until they are due, and sends them; keeps what was given up. */
  queue: Pick<Queue, 'add' | 'depths' | 'deadLetters'>;
  health: Pick<ClusterHealth, 'isUp'>;
  log: Log;
  metrics: Metrics;
  now?: () => Date;
}

/** No more changes wait: five for each of the 10,000 Shoots that one bridge is for, in less memory than its Pod has. */
const MOST = 50_000;
/** No function waits longer, and the resync comes every hour: a wrong time holds up no key for longer than that. */
const LONGEST_WAIT_MS = 3_600_000;

/**
 * Creates what the bridge does besides sending: it keeps the changes that wait, and what brokers have given up. Both are in
 * memory only: the first list and the resync cover what is lost.
 */
export function createEventBridge(options: EventBridgeOptions) {
  const { functions, queue, health, log, metrics, now = () => new Date() } = options;
  // Also what is due, and waits for the sink or for its cluster.
  const waiting = () =>
    queue.depths().reduce((sum, { depth: { waiting: due, delayed, parked } }) => sum + due + delayed + parked, 0);
  const keep = ({ function: name, key, cause }: ChangeRequest) => {
    if (waiting() >= MOST) {
      throw new RetryableError(`The bridge holds ${MOST} changes that wait, and takes no more for now.`);
    }
    const due = 'notBefore' in cause && cause.notBefore !== undefined ? Date.parse(cause.notBefore) : 0;
    queue.add(name, key, cause, Math.min(LONGEST_WAIT_MS, Math.max(0, due - now().getTime())));
  };

  const takeDeadLetter = (change: Change, attributes: Attributes) => {
    const { function: name, key, cause } = change;
    const before = 'attempt' in cause ? (cause.attempt ?? 0) : 0;
    const reason = safeText(reasonOf(attributes));
    // A function that answered 400 or 422 has refused the change.
    if (!isPermanent(attributes.knativeerrorcode)) {
      const isUp = health.isUp(key.cluster);
      const next = afterShortRetries(reason, { before, isResync: cause.type === 'resync', isUp });
      if (next.type === 'drop') return;
      if (next.type !== 'deadLetter') return keep(laterChange(change, next.seconds, now(), next).change);
    }
    metrics.count('terminal_total', { function: name });
    const attempts = Math.max(before, SHORT_ATTEMPTS) + 1;
    queue.deadLetters.add({ function: name, key, causes: [cause], reason, attempts }, now());
    log.error('dead letter', { function: name, key: keyText(key), error: reason });
  };

  return {
    deadLetters: queue.deadLetters,
    /** Returns how many changes wait. */
    waiting,
    /** Takes events of changes that wait, and dead letters of the broker. */
    async receive({ attributes, data }: CloudEvent): Promise<Answer> {
      const change = parseChange(data);
      if (!functions.includes(change.function)) {
        throw new TerminalError(`There is no function ${change.function}; send changes of ${functions.join(', ')}.`);
      }
      if ('knativeerrordest' in attributes) takeDeadLetter(change, attributes);
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
  const body = textAt(parsedJson(text), 'errresponsebody');
  return body === undefined ? undefined : decoded(body);
}

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString();
}
