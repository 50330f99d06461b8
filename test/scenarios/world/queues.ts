import { createSchedule, type Schedule } from '../../../events/queue/schedule.ts';
import { decideRetry, nextOf } from '../../../events/retry.ts';
import type { RunResult } from '../../../events/run.ts';
import { VISIBILITY_SECONDS } from '../../../events/sqs/queues.ts';
import { requeueTime } from '../../../events/waits.ts';
import type { Cause, ChangeRequest } from '../../../shared/runtime/change-request.ts';
import { keyText, type ReconcileKey } from '../../../shared/runtime/key.ts';

/** A run that starts. */
export interface Taken {
  function: string;
  key: ReconcileKey;
  causes: Cause[];
}

/** The queue of an instance of the product, on a simulated clock. */
export interface WorldQueue {
  send(change: ChangeRequest): void;
  /** Takes a key that is due now. */
  take(): Taken | undefined;
  /** When something is due next, in epoch ms; Infinity if nothing is. */
  nextDue(): number;
  /** @returns true if the change is given up */
  end(taken: Taken, result: RunResult): boolean;
  /** The lease of the run has ended: its message is redelivered after its visibility. */
  lose(taken: Taken): void;
  /** A run that was taken for lost has asked for another look: as a new message. */
  requeue(taken: Taken, seconds: number): void;
  /** The same queue once more. The queue of one process dies with it, and has no copy. */
  copy(): WorldQueue | undefined;
}

/** A message whose run is lost is redelivered after this time, as with SQS. */
export const VISIBILITY_MS = VISIBILITY_SECONDS * 1000;

/** The real queue of one process (`shoot-flux run`). No run of it is ever taken for lost: it dies with the process. */
export function processQueue(now: () => Date): WorldQueue {
  const schedules = new Map<string, Schedule>();
  const at = () => now().getTime();
  const scheduleOf = (name: string) => {
    const schedule = schedules.get(name) ?? createSchedule({ concurrency: 20 });
    schedules.set(name, schedule);
    return schedule;
  };
  const attempts = new WeakMap<Taken, number>();
  const noLease = () => {
    throw new Error('the queue of one process gives no leases: use the queue sqs');
  };

  return {
    send: ({ function: name, key, cause }) => scheduleOf(name).add(key, cause, at()),
    take() {
      for (const [name, schedule] of schedules) {
        const start = schedule.take(at());
        if (start === undefined) continue;
        const taken = { function: name, key: start.key, causes: [...start.causes] };
        attempts.set(taken, start.attempt);
        return taken;
      }
      return undefined;
    },
    nextDue: () =>
      Math.min(
        ...[...schedules.values()].map((each) => (each.depth().waiting > 0 ? at() : (each.nextDue() ?? Infinity))),
      ),
    end(taken, result) {
      const next = nextOf(result, attempts.get(taken) ?? 1, 0.5);
      scheduleOf(taken.function).end(taken.key, next, at());
      return next.result === 'dead_letter';
    },
    lose: noLease,
    requeue: noLease,
    copy: () => undefined,
  };
}

/** A key of a function, whose changes are in one message group. */
interface Group {
  function: string;
  key: ReconcileKey;
  causes: Cause[];
  /** When the key is due, in epoch ms. */
  due: Set<number>;
  /** A message whose run is lost, or has met a conflict, is hidden until then, and its key waits for it. */
  hiddenUntil: number;
  attempt: number;
}

/** SQS as far as it matters for Lambdas: leases, and a delay queue. The real one would take seconds for every run. */
export function sqsQueue(now: () => Date, groups = new Map<string, Group>()): WorldQueue {
  const at = () => now().getTime();
  const groupOf = ({ function: name, key }: Pick<ChangeRequest, 'function' | 'key'>): Group => {
    const text = `${name} ${keyText(key)}`;
    const group = groups.get(text) ?? { function: name, key, causes: [], due: new Set(), hiddenUntil: 0, attempt: 1 };
    groups.set(text, group);
    return group;
  };
  const dueOf = (group: Group) =>
    group.due.size === 0 ? Infinity : Math.max(Math.min(...group.due), group.hiddenUntil);
  const requeue = (taken: Taken, seconds: number) =>
    void groupOf(taken).due.add(requeueTime(now(), seconds, taken.key).getTime());
  const hide = (group: Group, ms: number) => {
    group.hiddenUntil = at() + ms;
    group.due.add(group.hiddenUntil);
  };

  return {
    send(change) {
      const group = groupOf(change);
      group.causes.push(change.cause);
      group.due.add(at());
    },
    take() {
      const group = [...groups.values()].find((candidate) => dueOf(candidate) <= at());
      if (group === undefined) return undefined;
      for (const time of group.due) if (time <= at()) group.due.delete(time);
      return { function: group.function, key: group.key, causes: group.causes.splice(0) };
    },
    nextDue: () => Math.min(...[...groups.values()].map(dueOf)),
    end(taken, result) {
      const group = groupOf(taken);
      if (result.type !== 'failed') {
        group.attempt = 1;
        if (result.type === 'requeue') requeue(taken, result.afterSeconds);
        return false;
      }
      const retry = decideRetry(result.error, group.attempt++, 0.5);
      if (retry.type === 'deadLetter') return true;
      if (retry.seconds > 0) requeue(taken, retry.seconds);
      else hide(group, 0);
      return false;
    },
    lose(taken) {
      const group = groupOf(taken);
      hide(group, VISIBILITY_MS);
      group.attempt++;
    },
    requeue,
    copy: () => sqsQueue(now, new Map([...groups].map(([text, group]) => [text, copyOf(group)]))),
  };
}

function copyOf({ causes, due, ...rest }: Group): Group {
  return { ...rest, causes: [...causes], due: new Set(due) };
}
