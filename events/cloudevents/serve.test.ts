import { describe, expect, it } from 'vitest';
import { RetryableError, TerminalError } from '../../shared/errors.ts';
import { ClusterDownError, ConflictError } from '../../shared/kube/errors.ts';
import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import type { Handler } from '../../shared/runtime/context.ts';
import { done, requeueAfter } from '../../shared/runtime/outcome.ts';
import { causeOf, changeOf, functionOf, keptLog, keyOf, processDependencies } from '../testing.ts';
import { eventOf } from './event.ts';
import { serveFunctions } from './serve.ts';

function serve(handler: Handler) {
  const { log, lines } = keptLog();
  const delayed: ChangeRequest[] = [];
  const sender = { send: async () => {}, retryLater: async (change: ChangeRequest) => void delayed.push(change) };
  const functions = [{ queueFunction: functionOf(handler), dependencies: processDependencies({ log }) }];
  const receive = serveFunctions({ functions, sender, concurrency: 20 });
  const post = (change: ChangeRequest) => receive(eventOf(change, new Date()));
  return { post, receive, lines, delayed, sender };
}

const version = (resourceVersion: string) => changeOf({ cause: causeOf({ resourceVersion }) });

describe('a function behind HTTP', () => {
  it('runs once for a key at a time, and once more for all that has arrived meanwhile', async () => {
    let running = 0;
    const runs: string[] = [];
    const { post } = serve(async (_, { causes }) => {
      expect(++running).toBe(1);
      runs.push(causes.map((cause) => (cause.type === 'object' ? cause.resourceVersion : '')).join());
      await new Promise((resolve) => setTimeout(resolve, 100));
      running--;
      return done;
    });
    const first = post(version('1'));
    await expect.poll(() => runs).toEqual(['1']);
    const answers = await Promise.all([first, post(version('2')), post(version('3'))]);
    expect(answers).toEqual([{ status: 204 }, { status: 204 }, { status: 204 }]);
    expect(runs).toEqual(['1', '2,3']);
  });

  it('quotes the start of a foreign type on one line, without what a terminal would obey', async () => {
    const { receive } = serve(async () => done);
    const { attributes, data } = eventOf(changeOf(), new Date());
    const type = `a\r\n\u001b[31m\u202eb Bearer abc.def.ghi ${'x'.repeat(60_000)}`;
    const { message } = await receive({ attributes: { ...attributes, type }, data }).catch((error) => error);
    expect(message).toMatch(/^The event of type a b \S/);
    expect(message.length).toBeLessThan(300);
    expect(message).not.toContain('abc.def.ghi');
  });

  it('answers 422 for what will never succeed, and 503 for what may', async () => {
    const errors = [new TerminalError('The key is bad.'), new RetryableError('Not yet.')];
    const { post, lines } = serve(async () => Promise.reject(errors.shift()));
    expect(await post(changeOf())).toEqual({ status: 422, sentence: 'The key is bad.' });
    expect(await post(changeOf())).toEqual({ status: 503, sentence: 'Not yet.', retryAfterSeconds: undefined });
    expect(lines.map(({ outcome, level }) => [outcome, level])).toEqual([
      ['dead_letter', 'error'],
      ['retry', 'warn'],
    ]);
  });

  it('repeats a run at once when another writer was faster', async () => {
    let runs = 0;
    const { post } = serve(async () => {
      if (++runs < 3) throw new ConflictError('changed meanwhile', 409, 'Conflict');
      return done;
    });
    expect(await post(changeOf())).toEqual({ status: 204 });
    expect(runs).toBe(3);
  });

  it('sends what has to wait to the bridge before it answers', async () => {
    const { post, delayed } = serve(async () => requeueAfter(30));
    const before = Date.now();
    expect(await post(changeOf())).toEqual({ status: 204 });
    const [change] = delayed;
    expect(change).toMatchObject({ function: 'managed-resources', key: changeOf().key, cause: { type: 'notBefore' } });
    const due = change?.cause.type === 'notBefore' ? Date.parse(change.cause.notBefore) : 0;
    expect(due - before).toBeGreaterThanOrEqual(30_000);
    expect(due - Date.now()).toBeLessThan(40_000);
  });

  it.each<[string, Handler]>([
    ['the sink broker answered 500', async () => requeueAfter(30)],
    ['The garden is down.', async () => Promise.reject(new ClusterDownError('garden', 'The garden is down.'))],
  ])('leaves what has to wait to the broker where the bridge does not take it: %s', async (sentence, handler) => {
    const { post, sender } = serve(handler);
    sender.retryLater = async () => Promise.reject(new RetryableError('the sink broker answered 500'));
    expect(await post(changeOf())).toMatchObject({ status: 503, sentence });
  });

  it('drops a resync of a cluster that is down: the next one is its retry', async () => {
    const { post } = serve(async () => Promise.reject(new ClusterDownError('local', 'Seed local does not answer.')));
    expect(await post(changeOf({ cause: { type: 'resync', epoch: 1 } }))).toEqual({ status: 204 });
    expect(await post(changeOf())).toMatchObject({ status: 503 });
  });

  it('never gives up what needs another cluster that is down, such as the garden, and tries it every four minutes', async () => {
    const { post, delayed } = serve(async () => Promise.reject(new ClusterDownError('garden', 'The garden is down.')));
    let change = changeOf();
    for (let attempt = 1; attempt <= 60; attempt++) {
      expect(await post(change)).toEqual({ status: 204 });
      const [sent] = delayed.splice(0);
      if (sent?.cause.type !== 'notBefore') expect.fail('nothing was sent to the bridge');
      expect(sent.cause.attempt).toBe(Math.min(attempt, 11));
      expect(Date.parse(sent.cause.notBefore) - Date.now()).toBeLessThanOrEqual(360_000);
      change = sent;
    }
  });

  it('refuses events for other functions, and for seeds of other instances only for now', async () => {
    const { post } = serve(async () => done);
    await expect(post(changeOf({ function: 'keys' }))).rejects.toThrow(TerminalError);
    const elsewhere = post(changeOf({ key: { ...keyOf(1), cluster: 'other' } }));
    await expect(elsewhere).rejects.toThrow('This process does not serve seed other');
    await expect(elsewhere).rejects.not.toThrow(TerminalError);
  });
});
