import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SelectionStatus } from '../../events/watcher/watcher.ts';
import { SILENT_MS, startEndpoints } from './endpoints.ts';
import { createPrometheusMetrics } from './metrics.ts';

let endpoints: Awaited<ReturnType<typeof startEndpoints>>;
let exposed = 0;
let isAlive = true;
let selections: SelectionStatus[] = [];
const since = new Date('2026-01-02T03:04:05Z');
beforeEach(async () => {
  exposed = 0;
  selections = [];
  const metrics = createPrometheusMetrics();
  endpoints = await startEndpoints(0, {
    alive: () => isAlive,
    ready: () => true,
    status: () => selections,
    clusters: () => [
      { cluster: 'garden', isUp: true, since },
      { cluster: 'local', isUp: false, since, problem: 'ConnectTimeout' },
    ],
    metrics: {
      ...metrics,
      expose() {
        exposed += 1;
        return metrics.expose();
      },
    },
  });
});
afterEach(() => endpoints?.stop());

const get = async (path: string) => {
  const response = await fetch(`http://127.0.0.1:${endpoints?.port}${path}`);
  return { status: response.status, text: await response.text() };
};

it('says in a metric whether the process is ready, for an alert', async () => {
  expect((await get('/metrics')).text).toContain('\nshoot_flux_ready 1\n');
});

it('makes the metrics a few times for hundreds of requests', async () => {
  const begin = performance.now();
  for (let count = 0; count < 20; count++) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => get('/metrics')));
    expect(answers.every(({ text }) => text.includes('process_cpu'))).toBe(true);
  }
  expect(exposed).toBeLessThanOrEqual(1 + (performance.now() - begin) / 100);
});

it('answers /healthz from the current state', async () => {
  expect((await get('/healthz')).status).toBe(200);
  isAlive = false;
  await expect.poll(() => get('/healthz')).toEqual({ status: 503, text: 'no progress\n' });
});

it('names the clusters that are down in /readyz, which stays ready for the others', async () => {
  expect(await get('/readyz')).toEqual({
    status: 200,
    text: 'down local: no answer since 2026-01-02T03:04:05.000Z (ConnectTimeout)\n',
  });
});

/** Sends this text over one connection, and returns what was answered until the connection ended. */
async function answersTo(requests: string): Promise<string> {
  const socket = connect(endpoints?.port ?? 0, '127.0.0.1').on('error', () => {});
  socket.write(requests);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  await once(socket, 'close');
  return text;
}

const REQUEST = 'GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n';

it('answers one of many requests that are sent ahead', async () => {
  const answers = (await answersTo(REQUEST.repeat(100))).match(/HTTP\/1.1 \d+/g) ?? [];
  expect(answers.filter((line) => line.endsWith('200'))).toHaveLength(1);
});

it('does not wait longer than seconds for callers that do not read', async () => {
  const selection = { cluster: 'local', resource: 'x'.repeat(100), synced: true, objects: 1 };
  selections = Array.from({ length: 200_000 }, () => selection);
  const socket = connect(endpoints?.port ?? 0, '127.0.0.1');
  socket.pause().write(REQUEST);
  // A socket that is not read learns only from a write that its peer is gone. Each write starts the peer's time again.
  const probes = setInterval(() => socket.write('\r\n'), SILENT_MS + 1_000);
  await once(socket, 'error');
  clearInterval(probes);
  expect(socket.bytesRead).toBeLessThan(selections.length * selection.resource.length);
});

it('shows what is watched now, and which cluster answers but cannot be listed or watched', async () => {
  const secrets = { cluster: 'garden', resource: 'secrets', synced: true };
  const named = (name: string) => `metadata.name=${name}`;
  const problem = 'GET extensions: 401 Unauthorized';
  selections = [
    { ...secrets, selector: named('flux-source'), objects: 3 },
    { ...secrets, selector: named('flux-sops'), objects: 2 },
    { cluster: 'local', resource: 'extensions', synced: true, objects: 7, problem },
    { cluster: 'local', resource: 'clusters', synced: false, objects: 0 },
  ];
  const { text } = await get('/metrics');
  expect(text).toContain('\nshoot_flux_watcher_objects{cluster="garden",resource="secrets"} 5\n');
  expect(text).toContain('\nshoot_flux_watcher_up{cluster="garden",resource="secrets"} 1\n');
  expect(text).toContain('\nshoot_flux_watcher_up{cluster="local",resource="extensions"} 0\n');
  expect(text).toContain('\nshoot_flux_watcher_up{cluster="local",resource="clusters"} 0\n');
  expect((await get('/readyz')).text.split('\n').slice(1)).toEqual([
    'ok garden secrets flux-source: 3 objects',
    'ok garden secrets flux-sops: 2 objects',
    `not ready local extensions: ${problem}`,
    'not ready local clusters: waiting for the first list',
    '',
  ]);
});
