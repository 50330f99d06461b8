import { eventually } from '@shoot-flux/landscape/eventually';
import { afterEach, expect, it } from 'vitest';
import { nextOf } from '../../events/retry.ts';
import { causeOf, functionOf, keptLog, keptMetrics, keyOf } from '../../events/testing.ts';
import { RetryableError, retryWithin, TerminalError } from '../../shared/errors.ts';
import { ClusterDownError, ConflictError, KubeError } from '../../shared/kube/errors.ts';
import { createClusterHealth } from '../../shared/runtime/cluster-health.ts';
import type { Context, Handler } from '../../shared/runtime/context.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { done } from '../../shared/runtime/outcome.ts';
import { errorOf, type FromThread, forwardedLog, inOrder, plainError } from './thread-messages.ts';
import { startThreadedFunctions } from './threaded-functions.ts';

let thread: ReturnType<typeof startThreadedFunctions> | undefined;
afterEach(() => thread?.stop());

/** Starts a thread whose code is given; each run calls `run` with its job, and the last number of the namespace. */
function start(run: string, begin = '') {
  const source = `
    import { parentPort, workerData } from 'node:worker_threads';
    const post = (message) => parentPort.postMessage([message]);
    ${begin}
    const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    const execute = (job) => Atomics.store(workerData.executing, 0, job.id);
    let downs = [];
    const run = async (job, number) => { ${run} };
    parentPort.on('message', async (job) => {
      if (job.type === 'abort') return;
      if (job.type === 'cluster') return void (downs = [...downs, job.problem]);
      try {
        const outcome = await run(job, job.type === 'run' ? Number(/\\d+$/.exec(job.key.namespace)[0]) : 0);
        if (job.type === 'run') post({ type: 'ran', id: job.id, outcome: outcome ?? { type: 'done' } });
        else post({ type: 'answered', id: job.id, answer: { status: 200, contentType: 'x', body: 'answered' } });
      } catch (error) {
        post({ type: 'failed', id: job.id, error: { message: error.message } });
      }
    });
    setInterval(() => Atomics.add(workerData.beats, 0, 1), 20);
    post({ type: 'started' });`;
  const { log, lines } = keptLog();
  const { metrics, sums } = keptMetrics();
  const { definition } = functionOf(async () => done, 'readiness');
  const health = createClusterHealth();
  const suspected: string[] = [];
  const sent: unknown[] = [];
  const queue = { send: async (changes: unknown[]) => void sent.push(...changes) };
  thread = startThreadedFunctions({
    definitions: [definition],
    kubeconfigs: {},
    settings: { seeds: ['local'] } as Context['settings'],
    ...{ health, queue, log, metrics, onSuspect: (cluster) => suspected.push(cluster) },
    code: new URL(`data:text/javascript,${encodeURIComponent(source)}`),
  });
  const handler = thread.functions[0]?.handler as Handler;
  const invoke = (number: number, context: Partial<Context> = {}) =>
    handler(keyOf(number), {
      causes: [causeOf()],
      signal: new AbortController().signal,
      ...context,
    } as Context);
  return { thread, invoke, lines, sums, health, suspected, sent };
}

const spin = 'execute(job); while (true);';
const restarts = 'functions_restarts_total{}';

// First: a thread that is replaced in native code goes on using the processor of this process for a while.
it('a thread that gets no processor for a while is not stuck, and nothing is interrupted', async () => {
  const { invoke, sums } = start(`
    if (number === 7) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4_000);`);
  await Promise.all([invoke(1), invoke(7)]);
  expect(sums.get(restarts)).toBe(0);
});

it.each([
  ['blocks it', spin, /^kept shoot-flux busy for more than 2 s$/],
  [
    'needs too much memory',
    'execute(job); const kept = []; while (true) kept.push(new Array(2e6).fill(1.5));',
    // On a busy machine its memory takes longer than the patience.
    /^(needed more than 128 MB of memory|kept shoot-flux busy for more than 2 s)$/,
  ],
  [
    'blocks it in code that cannot be interrupted',
    "execute(job); (await import('node:crypto')).pbkdf2Sync('a', 'b', 8e6, 64, 'sha512');",
    /^kept shoot-flux busy for more than 2 s$/,
  ],
])('a run that %s fails, and all others end in the next thread', async (_, hostile, reason) => {
  const { invoke, lines, sums } = start(`
    if (job.endedBefore !== undefined) throw new Error(job.endedBefore);
    if (number === 7) { await later(50); ${hostile} }
    await later(100);`);
  const all = await Promise.allSettled([1, 2, 7, 3].map((number) => invoke(number)));
  expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(lines).toEqual([
    expect.objectContaining({
      ...{ message: 'functions restart', level: 'error', error: expect.stringMatching(reason) },
      ...{ function: 'readiness', key: 'local/shoot--dev--s7/shoot-flux' },
    }),
  ]);
  const sentence = `local/shoot--dev--s7/shoot-flux ${lines[0]?.error}, so its run was ended; it is retried later.`;
  expect(all[2]).toEqual({ status: 'rejected', reason: new RetryableError(sentence) });
  expect(sums.get(restarts)).toBe(1);
  // The next run of the key knows, and the one after it does not.
  await expect(invoke(7)).rejects.toThrow(reason);
});

it('what blocks it without being known is found among those that ran in every thread', async () => {
  const { invoke, lines } = start('if (number === 7) { await later(50); while (true); } await later(20_000);');
  const all = await Promise.allSettled([invoke(7), invoke(1)]);
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(lines).toHaveLength(3);
  // Alone, it is the only one.
  await expect(invoke(7)).rejects.toThrow('local/shoot--dev--s7/shoot-flux kept shoot-flux busy');
});

it('a thread that is busy with one run after the other is not stuck, and nothing is interrupted', async () => {
  const { invoke, sums } = start(`
    const begun = Date.now();
    if (number === 7) for (let id = 1; Date.now() < begun + 3_500; id += 1) {
      Atomics.store(workerData.executing, 0, id);
      while (Date.now() < begun + id * 100);
    }`);
  await Promise.all([invoke(1), invoke(7)]);
  expect(sums.get(restarts)).toBe(0);
});

it('a thread that ends by itself is replaced, and its runs end in the next one', async () => {
  const { invoke, sums } = start('await later(10); if (number === 1) process.exit(); ');
  await Promise.allSettled([invoke(1), invoke(2)]);
  await invoke(3);
  expect(sums.get(restarts)).toBeGreaterThan(0);
});

it('a thread that fails to start again and again is reported as not alive', async () => {
  const { thread, lines } = start('', 'throw new Error("no room");');
  expect(thread.alive()).toBe(true);
  await eventually('three attempts', async () => !thread.alive());
  expect(lines).toHaveLength(3);
  expect(lines[0]).toMatchObject({ message: 'functions restart', error: expect.stringMatching(/^failed: Error at /) });
});

it('a review waits for the next thread, and one that blocks it is answered with a sentence', async () => {
  const { thread, invoke, lines } = start(
    `if (number === 7 || job.function === 'hostile') { await later(100); ${spin} } await later(200);`,
  );
  const ask = (name: string, signal = new AbortController().signal) =>
    thread.answererOf(name)(Buffer.from('{}'), signal);
  const [blocked, answer] = await Promise.allSettled([invoke(7), ask('admission')]);
  expect(blocked.status).toBe('rejected');
  expect(answer).toMatchObject({ status: 'fulfilled', value: { body: 'answered' } });
  await expect(ask('hostile')).rejects.toThrow(
    /^The request to hostile kept shoot-flux busy for more than 2 s, so it was ended\.$/,
  );
  expect(lines[1]).toEqual(expect.objectContaining({ message: 'functions restart', function: 'hostile' }));
  expect(lines[1]).not.toHaveProperty('key');
  const ending = new AbortController();
  const late = Promise.allSettled([invoke(7), ask('admission', ending.signal)]);
  ending.abort();
  const sentence = 'The request to admission was interrupted, and its time is over.';
  expect((await late)[1]).toEqual({ status: 'rejected', reason: new RetryableError(sentence) });
});

it('asks about a cluster that a function suspects, and tells each thread which ones are down', async () => {
  const { invoke, health, suspected } = start(`
    if (number === 1) post({ type: 'suspect', cluster: 'local' });
    if (number === 2) post({ type: 'up', cluster: 'local' });
    if (number === 7) { ${spin} }
    if (number === 3) throw new Error(downs.join());`);
  await invoke(1);
  expect(suspected).toEqual(['local']);
  health.declare('local', 'ETIMEDOUT');
  await expect(invoke(3)).rejects.toThrow(/^ETIMEDOUT$/);
  await expect(invoke(7)).rejects.toThrow('kept shoot-flux busy');
  await expect(invoke(3)).rejects.toThrow(/^ETIMEDOUT$/);
  await invoke(2);
  expect(health.isUp('local')).toBe(true);
});

it('takes the changes that a run sends, also from a thread that is replaced', async () => {
  const { invoke, sent } = start(`post({ type: 'send', changes: [number] }); if (number === 7) { ${spin} }`);
  await Promise.allSettled([invoke(1), invoke(7)]);
  expect(sent).toEqual([1, 7]);
});

it('tells the thread that a run is aborted, and does not run it again', async () => {
  const ending = new AbortController();
  const { invoke, sums } = start(spin);
  const run = invoke(1, { signal: ending.signal });
  ending.abort();
  await expect(run).rejects.toThrow(RetryableError);
  await eventually('the replacement', async () => sums.get(restarts) === 1);
});

it.each([
  ['a dead letter', new TerminalError('no')],
  ['a conflict', new ConflictError('GET x: conflict', 409, 'Conflict')],
  ['an API server that asks for a wait', new KubeError('GET x: busy', 429, '', { retryAfterSeconds: 30 })],
  ['a cluster that is down', new ClusterDownError('local', 'Seed local has not answered')],
  ['a wish', retryWithin(new RetryableError('later'), 15)],
  ['an error of a library', new TypeError('secret')],
])('%s keeps its meaning across the boundary', (_, error) => {
  const copy = errorOf(structuredClone(plainError(error)));
  expect(describeError(copy)).toBe(describeError(error));
  const ends = (thrown: unknown) => nextOf({ type: 'failed', error: thrown }, 1, 0.5);
  expect({ ...ends(copy), error }).toEqual({ ...ends(error), error });
});

it('lines of the log are posted at once, everything else together at the end of the turn, and all in order', async () => {
  const posted: FromThread[][] = [];
  const post = inOrder({ postMessage: (messages) => posted.push(messages) });
  post({ type: 'up', cluster: 'a' });
  forwardedLog(post).info('object deleted');
  post({ type: 'up', cluster: 'b' });
  post({ type: 'up', cluster: 'c' });
  const types = () => posted.map((messages) => messages.map(({ type }) => type).join());
  expect(types()).toEqual(['up,line']);
  await eventually('the end of the turn', async () => posted.length === 2);
  expect(types()).toEqual(['up,line', 'up,up']);
});
