// How often a key is looked at on SQS: the code of the Lambdas, with queues and a clock of this file.
import { describe, expect, it } from 'vitest';
import { RetryableError } from '../../shared/errors.ts';
import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import type { Handler } from '../../shared/runtime/context.ts';
import { done, requeueAfter } from '../../shared/runtime/outcome.ts';
import { changeId } from '../change.ts';
import { changeOf, eventOf, functionOf, keyOf, lambdaContext, processDependencies, recordOf } from '../testing.ts';
import { createSqsLambda } from './lambda.ts';
import { delayRunnerOf } from './runner.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const START = Date.parse('2026-01-01T00:00:00Z');
/** SQS drops a message with the id of one that was sent within this time. */
const DEDUPLICATION_MS = 5 * MINUTE;

interface Message {
  change: ChangeRequest;
  visibleAt: number;
  receives: number;
  handle: string;
}

/** One group of a FIFO queue, and the delay queue. */
class Queues {
  readonly delayed: { change: ChangeRequest; at: number }[] = [];
  readonly #sent = new Map<string, number>();
  group: Message[] = [];
  #handles = 0;

  send(change: ChangeRequest, at: number): void {
    const id = changeId(change);
    if (at - (this.#sent.get(id) ?? Number.NEGATIVE_INFINITY) < DEDUPLICATION_MS) return;
    this.#sent.set(id, at);
    this.group.push({ change, visibleAt: at, receives: 0, handle: `h${this.#handles++}` });
  }

  /** A hidden message blocks its group. */
  receive(at: number): Message[] {
    if (this.group.some(({ visibleAt }) => visibleAt > at)) return [];
    const received = this.group.slice(0, 10);
    for (const message of received) message.receives++;
    return received;
  }
}

/** Returns the runs of each hour for one key whose function behaves so. */
async function looksPerHour(handler: Handler, hours: number, liveChanges: number[] = []): Promise<number[]> {
  const queues = new Queues();
  const looks = Array.from({ length: hours }, () => 0);
  let now = START;
  const key = keyOf(5);
  const lambda = createSqsLambda(
    functionOf(async (...args) => {
      const hour = Math.floor((now - START) / HOUR);
      looks[hour] = (looks[hour] ?? 0) + 1;
      return handler(...args);
    }),
    {
      ...processDependencies({ now: () => new Date(now) }),
      sender: {
        send: async (changes) => changes.forEach((change) => void queues.send(change, now)),
        retryLater: async (change, seconds) =>
          void queues.delayed.push({ change, at: now + Math.min(900, Math.ceil(seconds)) * SECOND }),
        deadLetter: async () => {},
      },
      visibility: async (handle, seconds) => {
        for (const message of queues.group) if (message.handle === handle) message.visibleAt = now + seconds * SECOND;
      },
    },
  );
  const delay = delayRunnerOf({
    ...processDependencies({ now: () => new Date(now) }),
    sender: {
      send: async (changes) => changes.forEach((change) => void queues.send(change, now)),
      retryLater: async () => {},
      deadLetter: async () => {},
    },
    visibility: async () => {},
  });

  const arrivals = [
    { at: START + 7 * SECOND, change: changeOf({ key }) },
    ...liveChanges.map((ms, n) => ({
      at: START + ms,
      change: changeOf({ key, cause: { type: 'redrive', nonce: `n${n}` } }),
    })),
    ...Array.from({ length: hours }, (_, epoch) => ({
      at: START + epoch * HOUR + 1_234 * SECOND,
      change: changeOf({ key, cause: { type: 'resync' as const, epoch } }),
    })),
  ] as { at: number; change: ChangeRequest }[];
  for (; now < START + hours * HOUR; now += SECOND) {
    for (const { at, change } of arrivals) if (at === now) queues.send(change, now);
    const due = queues.delayed.filter(({ at }) => at <= now);
    for (const entry of due) {
      queues.delayed.splice(queues.delayed.indexOf(entry), 1);
      const outcome = await delay.invoke(entry.change, {} as never);
      if (outcome.type === 'requeue') {
        queues.delayed.push({
          change: entry.change,
          at: now + Math.min(900, Math.ceil(outcome.afterSeconds)) * SECOND,
        });
      }
    }
    const batch = queues.receive(now);
    if (batch.length === 0) continue;
    const records = batch.map(({ change, receives, handle }) =>
      recordOf(change, { receiveCount: receives, messageId: handle, receiptHandle: handle }),
    );
    const { batchItemFailures } = await lambda(eventOf(...records), lambdaContext('managed-resources', 10));
    const kept = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    queues.group = queues.group.filter((message) => !batch.includes(message) || kept.has(message.handle));
  }
  return looks;
}

const least = (looks: number[]) => Math.min(...looks.slice(1));
const most = (looks: number[]) => Math.max(...looks.slice(1));

describe('looks per hour', () => {
  it('are 7 for a followed Shoot that is Ready: six of its own and the resync', async () => {
    const looks = await looksPerHour(async () => requeueAfter(600), 24);
    expect([least(looks), most(looks)]).toEqual([7, 7]);
  });

  it('are 7 also after many changes, each of which asks for a look', async () => {
    const changes = Array.from({ length: 40 }, (_, n) => 100 * SECOND + n * 83 * SECOND);
    const looks = await looksPerHour(async () => requeueAfter(600), 6, changes);
    expect(most(looks.slice(1))).toBe(7);
  });

  it('are 1 for each function of a released Shoot', async () => {
    const looks = await looksPerHour(async () => done, 24);
    expect([least(looks), most(looks)]).toEqual([1, 1]);
  });

  it('are 6 at most for a key that fails for a day, after its first hour', async () => {
    const looks = await looksPerHour(() => Promise.reject(new RetryableError('no answer')), 24);
    expect(most(looks)).toBeLessThanOrEqual(6);
    expect(looks[0]).toBeLessThanOrEqual(20);
  });

  it('are 6 at most also when a change of a failing key arrives every day', async () => {
    const looks = await looksPerHour(() => Promise.reject(new RetryableError('no answer')), 9, [3 * HOUR + 5 * MINUTE]);
    expect(most(looks.slice(5))).toBeLessThanOrEqual(6);
  });
});
