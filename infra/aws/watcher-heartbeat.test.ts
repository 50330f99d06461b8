import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { keptLog } from '../../events/testing.ts';
import { startWatcherHeartbeat } from './watcher-heartbeat.ts';

const sent: Record<string, string>[] = [];
let status = 200;
const server = createServer(async (incoming, outgoing) => {
  sent.push(Object.fromEntries(new URLSearchParams(await text(incoming))));
  outgoing.writeHead(status).end(status === 200 ? '' : '<Error><Code>AccessDenied</Code></Error>');
});
let endpoint: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => server.close());

it('sends one value for each watched cluster while the watcher is alive, and says once why it fails', async () => {
  const { log, lines } = keptLog();
  let isAlive = true;
  const credentials = { accessKeyId: 'AK', secretAccessKey: 'SK' };
  const heartbeat = startWatcherHeartbeat({
    cloudWatch: { region: 'eu-west-1', credentials, endpoint },
    queuePrefix: 'shoot-flux-prod-',
    clusters: ['garden', 'my-seed'],
    alive: () => isAlive,
    log,
    everyMs: 5,
  });
  await expect.poll(() => sent.length).toBeGreaterThan(1);
  expect(sent[0]).toEqual({
    Action: 'PutMetricData',
    Version: '2010-08-01',
    Namespace: 'shoot-flux',
    'MetricData.member.1.MetricName': 'watcher_heartbeat',
    'MetricData.member.1.Value': '1',
    'MetricData.member.1.Dimensions.member.1.Name': 'queue_prefix',
    'MetricData.member.1.Dimensions.member.1.Value': 'shoot-flux-prod-',
    'MetricData.member.1.Dimensions.member.2.Name': 'cluster',
    'MetricData.member.1.Dimensions.member.2.Value': 'garden',
    'MetricData.member.2.MetricName': 'watcher_heartbeat',
    'MetricData.member.2.Value': '1',
    'MetricData.member.2.Dimensions.member.1.Name': 'queue_prefix',
    'MetricData.member.2.Dimensions.member.1.Value': 'shoot-flux-prod-',
    'MetricData.member.2.Dimensions.member.2.Name': 'cluster',
    'MetricData.member.2.Dimensions.member.2.Value': 'my-seed',
  });
  status = 403;
  await expect.poll(() => lines.map(({ error }) => error)).toEqual([expect.stringContaining('AccessDenied')]);
  isAlive = false;
  await expect.poll(() => lines.map(({ error }) => error).at(-1)).toBe('the watcher makes no progress');
  const before = sent.length;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(sent.length).toBe(before);
  status = 200;
  isAlive = true;
  await expect.poll(() => lines.map(({ message }) => message).at(-1)).toBe('heartbeat to CloudWatch recovered');
  await heartbeat.stop();
});
