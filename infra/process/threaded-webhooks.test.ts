import { eventually } from '@shoot-flux/landscape/eventually';
import { afterEach, expect, it } from 'vitest';
import { keptLog, keptMetrics } from '../../events/testing.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { startThreadedWebhooks } from './threaded-webhooks.ts';

const options = { port: 0, hosts: [], kubeconfigs: {} };
const settings = { seeds: ['local'] };

let webhooks: Webhooks | undefined;
afterEach(async () => {
  await webhooks?.stop();
  webhooks = undefined;
});

/** Serves with a thread whose code is given: it has listened on port 1234, and then does this. */
async function start(then: string, checkMs = 100) {
  const source = `
    import { parentPort, workerData } from 'node:worker_threads';
    const post = (message) => parentPort.postMessage(message);
    const line = (message) => { Atomics.add(workerData.waiting, 0, 1); post({ type: 'line', level: 'warn', message, fields: { port: workerData.options.port } }); };
    const isFirst = workerData.options.port === 0;
    parentPort.on('message', () => process.exit());
    post({ type: 'status', status: { ready: true, problems: [] } });
    post({ type: 'listening', port: 1234 });
    ${then}`;
  const { log, lines } = keptLog();
  const { metrics, sums } = keptMetrics();
  const code = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  webhooks = await startThreadedWebhooks(options, { settings, log, metrics, code, checkMs });
  return { webhooks, lines, sums };
}

const serving = "setInterval(() => post({ type: 'status', status: { ready: true, problems: [] } }), 20);";

it.each([
  ['fails', 'throw new TypeError()', 'TypeError'],
  [
    'needs too much memory',
    'const kept = []; while (true) kept.push(new Array(1e5).fill(kept.length));',
    'too much memory',
  ],
  ['is stuck', 'while (true);', 'it was stuck'],
])('a thread that %s is replaced and listens on the same port', async (name, code, reason) => {
  const { webhooks, lines, sums } = await start(
    `if (isFirst) { ${code} } ${serving} line('second');`,
    name === 'is stuck' ? 100 : 1000,
  );
  await eventually('the second thread', async () => lines.find(({ message }) => message === 'second'));
  expect(lines).toEqual([
    expect.objectContaining({ level: 'error', message: 'webhooks restart', error: expect.stringContaining(reason) }),
    expect.objectContaining({ level: 'warn', message: 'second', port: 1234 }),
  ]);
  expect(sums.get('webhook_restarts_total{}')).toBe(1);
  expect(webhooks.port).toBe(1234);
  await eventually('readiness', async () => webhooks.status().ready);
});

it('says why the webhooks are not ready while their thread starts again', async () => {
  const { webhooks } = await start('if (isFirst) throw new Error(); else while (true);');
  const [problem] = await eventually('the problem', async () => {
    const { ready, problems } = webhooks.status();
    return ready ? undefined : problems;
  });
  expect(problem).toMatch(/^the thread has ended \(.+\) and starts again\.$/);
});

it('drops log lines that the process does not read, instead of keeping them in memory', async () => {
  const { boundedPost } = await import('./webhooks-messages.ts');
  const posted: unknown[] = [];
  const post = boundedPost((message) => posted.push(message), new Int32Array(new SharedArrayBuffer(4)));
  for (let count = 0; count < 20_000; count++) post({ type: 'line', level: 'info', message: 'x', fields: {} });
  expect(posted).toHaveLength(10_000);
});

it('fails with one sentence when the port is taken', async () => {
  const { log } = keptLog();
  const { metrics } = keptMetrics();
  const first = await startThreadedWebhooks(options, { settings, log, metrics });
  webhooks = first;
  const again = startThreadedWebhooks({ ...options, port: first.port }, { settings, log, metrics });
  await expect(again).rejects.toThrow(/^port \d+ is not available \(.*\); choose another one\.$/);
});
