import { errorMessage, RetryableError } from '../../shared/errors.ts';
import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import { keyText } from '../../shared/runtime/key.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { Heap, type Timed } from '../queue/heap.ts';

/** Holds changes until they are due. They are in memory only: the first list and the resync cover what is lost. */
export interface Timers {
  /** @throws RetryableError when there are too many */
  add(change: ChangeRequest): void;
  /** The cluster answers again: its retries are due. */
  resume(cluster: string): void;
  size(): number;
  stop(): void;
}

/** What sends changes that are due. */
export interface TimersOptions {
  send(changes: ChangeRequest[]): Promise<void>;
  /** Retries of a cluster that is down wait until it answers. */
  isUp(cluster: string): boolean;
  now(): number;
  log: Log;
  /** Default 50,000: five for each of the 10,000 Shoots that one bridge is for, in less memory than its Pod has. */
  most?: number;
}

interface Timer extends Timed {
  id: string;
  change: ChangeRequest;
}

const MOST = 50_000;
/** Sent at a time; the others wait for the sink meanwhile. */
const MOST_AT_ONCE = 100;
/** No function waits longer, and the resync comes every hour: a wrong time holds up no key for longer than that. */
const LONGEST_WAIT_MS = 3_600_000;
/** After a failure to send, and how often a cluster that is down is looked at. */
const AGAIN_MS = 5_000;

export function createTimers({ send, isUp, now, log, most = MOST }: TimersOptions): Timers {
  const timers = new Map<string, Timer>();
  const heap = new Heap<Timer>();
  let wake: NodeJS.Timeout | undefined;
  let isSending = false;
  let isStopped = false;

  const schedule = () => {
    clearTimeout(wake);
    const due = heap.first()?.at;
    if (due === undefined || isSending || isStopped) return;
    wake = setTimeout(() => void sendDue(), Math.max(0, due - now()));
  };

  const put = (timer: Timer, at: number) => {
    heap.remove(timer);
    timer.at = at;
    heap.add(timer);
  };

  const takeDue = (): Timer[] => {
    const due: Timer[] = [];
    for (let first = heap.first(); first !== undefined && first.at <= now(); first = heap.first()) {
      if (due.length === MOST_AT_ONCE) break;
      if (isRetry(first.change) && !isUp(first.change.key.cluster)) {
        put(first, now() + AGAIN_MS);
        continue;
      }
      heap.remove(first);
      timers.delete(first.id);
      due.push(first);
    }
    return due;
  };

  const sendDue = async () => {
    const due = takeDue();
    isSending = true;
    try {
      if (due.length > 0) await send(due.map(({ change }) => change));
    } catch (error) {
      log.warn('send failed', { function: 'delay', error: errorMessage(error), retryInMs: AGAIN_MS });
      const { unsent = due.map(({ change }) => change) } = error as { unsent?: ChangeRequest[] };
      for (const timer of due) {
        // A newer one of its key has arrived meanwhile.
        if (!unsent.includes(timer.change) || timers.has(timer.id)) continue;
        timers.set(timer.id, timer);
        put(timer, now() + AGAIN_MS);
      }
    }
    isSending = false;
    schedule();
  };

  return {
    add(change) {
      const id = idOf(change);
      const known = timers.get(id);
      if (known === undefined && timers.size >= most) {
        throw new RetryableError(`The bridge holds ${most} changes that wait, and takes no more for now.`);
      }
      const timer = known ?? { id, change, at: 0, index: -1 };
      // The latest run of a key decides on its next look.
      timer.change = change;
      timers.set(id, timer);
      put(timer, Math.min(dueAt(change), now() + LONGEST_WAIT_MS));
      schedule();
    },
    resume(cluster) {
      for (const timer of timers.values()) {
        if (timer.change.key.cluster === cluster && isRetry(timer.change)) put(timer, now());
      }
      schedule();
    },
    size: () => timers.size,
    stop() {
      isStopped = true;
      clearTimeout(wake);
    },
  };
}

/** One for each key; a pass has one of its own, because nothing else knows where it stopped. */
function idOf({ function: name, key, cause }: ChangeRequest): string {
  return `${name} ${keyText(key)}${cause.type === 'continue' ? ` ${cause.state}` : ''}`;
}

function isRetry({ cause }: ChangeRequest): boolean {
  return 'attempt' in cause && (cause.attempt ?? 0) > 0;
}

function dueAt({ cause }: ChangeRequest): number {
  return 'notBefore' in cause && cause.notBefore !== undefined ? Date.parse(cause.notBefore) : 0;
}
