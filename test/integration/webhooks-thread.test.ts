import { once } from 'node:events';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { startCluster } from '@shoot-flux/landscape/cluster';
import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { eventually } from '@shoot-flux/landscape/eventually';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { keptLog, keptMetrics } from '../../events/testing.ts';
import { files } from '../../infra/cli/testing.ts';
import { findAllDefinitions, findWebhookDefinitions } from '../../infra/functions.ts';
import { rbacObjects } from '../../infra/gardener/rbac.ts';
import { webhookObjects } from '../../infra/gardener/webhooks.ts';
import { startThreadedWebhooks } from '../../infra/process/threaded-webhooks.ts';
import { configurations } from '../../infra/webhooks/ca-bundle.ts';
import { CONFIGURATION } from '../../infra/webhooks/names.ts';
import type { Webhooks } from '../../infra/webhooks/webhooks.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';

const BLOCKED_MS = 10_500;

/** Calls admission like an API server, from another thread, until a given time; then reports when which answer came. */
const caller = `
  const { parentPort, workerData: { port, ca, body, until } } = require('node:worker_threads');
  const { request } = require('node:https');
  const call = () => new Promise((resolve, reject) => {
    const begin = Date.now();
    const headers = { 'content-type': 'application/json' };
    const sent = request({ host: '127.0.0.1', port, path: '/admission', method: 'POST', ca, headers }, (response) => {
      let text = '';
      response.on('data', (part) => (text += part)).on('end', () => {
        resolve({ at: Date.now(), ms: Date.now() - begin, code: JSON.parse(text).response.status.code });
      });
    });
    sent.on('error', reject).end(body);
  });
  void (async () => {
    const answers = [];
    while (Date.now() < until) {
      answers.push(await call());
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    parentPort.postMessage(answers);
  })();`;

const review = {
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: {
    uid: 'u',
    operation: 'CREATE',
    object: {
      kind: 'Shoot',
      metadata: { name: 'bar', namespace: 'garden-foo' },
      spec: { extensions: [{ type: 'shoot-flux', providerConfig: { typo: 1 } }] },
    },
  },
};

let stop: () => Promise<void>;
let webhooks: Webhooks;
let ca: string;
const { log, lines } = keptLog();
const { metrics, sums } = keptMetrics();

beforeAll(async () => {
  const [definitions, webhookDefinitions] = [await findAllDefinitions(), await findWebhookDefinitions()];
  const objectsOf = (place: 'garden' | 'seed') => [
    ...rbacObjects(definitions, place),
    ...webhookObjects(webhookDefinitions, place),
  ];
  const [garden, seed] = await Promise.all([
    startCluster([...gardenCrds(), ...objectsOf('garden')]),
    startCluster([...seedCrds(), ...objectsOf('seed')]),
  ]);
  const input = await files({ garden: garden.kubeconfig, local: seed.kubeconfig });
  webhooks = await startThreadedWebhooks(
    { port: 0, hosts: ['127.0.0.1'], kubeconfigs: input.paths },
    { settings: { seeds: ['local'] }, log, metrics },
  );
  stop = async () => {
    await webhooks.stop();
    await Promise.all([garden.stop(), seed.stop(), input[Symbol.asyncDispose]()]);
  };
  ca = await eventually('the authority', async () => {
    const live = await garden.client.find<KubeObject & { webhooks: { clientConfig: { caBundle?: string } }[] }>(
      configurations.Validating,
      { name: CONFIGURATION },
    );
    const bundle = live?.webhooks[0]?.clientConfig.caBundle;
    return bundle === undefined ? undefined : Buffer.from(bundle, 'base64').toString('utf8');
  });
  await eventually('readiness', async () => webhooks.status().ready);
});
afterAll(() => stop());

it('admission answers in time while the functions block their event loop', async () => {
  const begin = Date.now();
  const worker = new Worker(caller, {
    eval: true,
    workerData: { port: webhooks.port, ca, body: JSON.stringify(review), until: begin + BLOCKED_MS - 500 },
  });
  const reported = once(worker, 'message');
  while (Date.now() < begin + BLOCKED_MS);
  const end = Date.now();
  const [answers] = (await reported) as [{ at: number; ms: number; code: number }[]];
  const during = answers.filter(({ at }) => at < end);
  expect(during.length).toBeGreaterThan(5);
  expect(during.every(({ code, ms }) => code === 422 && ms < 5_000)).toBe(true);

  // Its log lines and numbers arrive when the process continues, with the time at which they were logged.
  await eventually(
    'the metrics',
    async () => sums.get('webhook_answers_total{function=admission,result=refused}') === answers.length,
  );
  const first = lines.find(({ message }) => message === 'admission answered');
  expect(Date.parse(String(first?.time))).toBeLessThan(end);
});

it('the largest bodies that are accepted do not end the thread', async () => {
  const withConfig = (providerConfig: string) => JSON.stringify(review).replace('{"typo":1}', providerConfig);
  const times = (count: number, part: (index: number) => string) =>
    Array.from({ length: count }, (_, n) => part(n)).join();
  const bodies = [
    withConfig(`{${times(90_000, (n) => `"key-${n}":1`)}}`),
    withConfig(`[${times(45_000, () => '{}')}]`),
    withConfig(`"${'x'.repeat(6_000_000)}"`),
    withConfig(`"${'\u4e2d'.repeat(1_900_000)}"`),
    withConfig('['.repeat(9_000) + ']'.repeat(9_000)),
  ];
  const post = async (body: string) => {
    const headers = { 'content-type': 'application/json' };
    const sent = request({ host: '127.0.0.1', port: webhooks.port, path: '/admission', method: 'POST', ca, headers });
    const answered = once(sent, 'response');
    sent.end(body);
    const [response] = await answered;
    return JSON.parse(await text(response)).response.status.message as string;
  };
  for (const body of bodies) {
    for (let count = 0; count < 5; count++) {
      expect(await post(body)).toMatch(/^providerConfig.* (is longer than|is nested more than|has more than)/);
    }
  }
  expect(sums.get('webhook_restarts_total{}')).toBe(0);
  expect(webhooks.status().ready).toBe(true);
});
