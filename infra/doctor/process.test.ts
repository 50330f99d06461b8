import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createDeadLetters } from '../../events/queue/dead-letters.ts';
import type { SelectionStatus } from '../../events/watcher/watcher.ts';
import { startEndpoints } from '../process/endpoints.ts';
import { createPrometheusMetrics, type PrometheusMetrics } from '../process/metrics.ts';
import { examineProcess } from './process.ts';

let endpoints: Awaited<ReturnType<typeof startEndpoints>>;
let metrics: PrometheusMetrics;
let letters: ReturnType<typeof createDeadLetters>;
let selections: SelectionStatus[];
const depth = { waiting: 0, delayed: 0, running: 0, parked: 0 };
beforeEach(async () => {
  metrics = createPrometheusMetrics();
  letters = createDeadLetters();
  selections = [];
  Object.assign(depth, { waiting: 0, parked: 0 });
  endpoints = await startEndpoints(0, {
    ready: () => selections.length === 0,
    status: () => selections,
    metrics,
    depths: () => [
      { function: 'keys', depth },
      { function: 'readiness', depth },
    ],
    deadLetters: letters.list,
  });
});
afterEach(() => endpoints?.stop());

async function lines(url = `http://127.0.0.1:${endpoints?.port}/`): Promise<string[]> {
  const items = await examineProcess(url);
  return items.map(({ place, check, verdict, sentence, remedy = '' }) =>
    `${verdict} ${place} ${check}: ${sentence} ${remedy.replace(/:\d+/, '')}`.trim(),
  );
}

it('is content with a process that has nothing to do', async () => {
  expect(await lines()).toEqual([
    '✔ process ready: The process follows all its clusters',
    '✔ process queue: No change had its run yet; 0 wait now',
    '✔ process dead letters: No change was given up',
  ]);
});

it('says how long changes wait, of all functions', async () => {
  for (let run = 0; run < 90; run++) metrics.observe('queue_age_seconds', 0.2, { function: 'keys' });
  for (let run = 0; run < 10; run++) metrics.observe('queue_age_seconds', 400, { function: 'readiness' });
  Object.assign(depth, { waiting: 2 });
  expect((await lines())[1]).toBe('✔ process queue: 9 of 10 changes waited at most 0.25 s for their run; 4 wait now');
});

it('reports changes that wait for too long, and those whose cluster does not answer', async () => {
  for (let run = 0; run < 8; run++) metrics.observe('queue_age_seconds', 0.2, { function: 'keys' });
  for (let run = 0; run < 2; run++) metrics.observe('queue_age_seconds', 400, { function: 'readiness' });
  Object.assign(depth, { waiting: 20, parked: 3 });
  expect((await lines()).slice(1, 3)).toEqual([
    '✗ process queue: 9 of 10 changes waited more than 5 min for their run; 40 wait now curl http://127.0.0.1/metrics',
    '! process queue: 6 changes are parked, because their cluster does not answer curl http://127.0.0.1/readyz',
  ]);
});

it('names the oldest dead letter, and what is not followed', async () => {
  const key = { cluster: 'aws', namespace: 'shoot--foo--a', name: 'shoot-flux' };
  const letter = { function: 'managed-resources', key, causes: [], reason: 'GET secrets: 403', attempts: 11 };
  letters.add(letter, new Date('2026-01-02T03:04:05Z'));
  letters.add({ ...letter, function: 'readiness' }, new Date('2026-01-03T03:04:05Z'));
  selections = [
    { cluster: 'aws', resource: 'extensions', synced: false, objects: 0, problem: '403 Forbidden' },
  ] as never;
  expect(await lines()).toEqual([
    '✗ process ready: The process is not ready: not ready aws extensions: 403 Forbidden curl http://127.0.0.1/readyz',
    '✔ process queue: No change had its run yet; 0 wait now',
    '✗ process dead letters: 2 changes were given up. The oldest, from 2026-01-02T03:04:05.000Z: managed-resources for aws/shoot--foo--a/shoot-flux: GET secrets: 403 curl http://127.0.0.1/dead-letters',
  ]);
});

it('cannot see a process that does not answer, or something else', async () => {
  const { port = 0 } = endpoints ?? {};
  await endpoints?.stop();
  endpoints = undefined;
  for (const line of await lines(`http://127.0.0.1:${port}`))
    expect(line).toMatch(/^! process .* does not answer as it should: .*ECONNREFUSED/);
  const other = createServer((_, response) => response.end('<html>')).listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const seen = await lines(`http://127.0.0.1:${(other.address() as AddressInfo).port}`);
  other.closeAllConnections();
  await new Promise((resolve) => other.close(resolve));
  expect(seen).toEqual([
    expect.stringMatching(/^! process ready: .*: this is not the port of shoot-flux/),
    expect.stringMatching(/^! process queue: .*: this is not the port of shoot-flux/),
    expect.stringMatching(/^! process dead letters: .*: this is not the port of shoot-flux/),
  ]);
});
