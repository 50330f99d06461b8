import { TerminalError } from '../../shared/errors.ts';
import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import type { ClusterHealth } from '../../shared/runtime/cluster-health.ts';
import { keyText } from '../../shared/runtime/key.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { safeText } from '../../shared/runtime/safe-text.ts';
import { type Change, parseChange } from '../change.ts';
import { createDeadLetters, type DeadLetters } from '../queue/dead-letters.ts';
import { requeue } from '../run/requeue.ts';
import { afterDeadLetter } from './after-dead-letter.ts';
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
