import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { eventually } from '@shoot-flux/landscape/eventually';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import type { SqsLambda } from '../../events/sqs/lambda.ts';
import { changeOf, eventOf, keyOf, lambdaContext, lookInto, recordOf } from '../../events/testing.ts';
import { reviewOf, sendJson, startTlsServer, statusBody, type TestServer } from '../../shared/kube/testing.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import { openQueues, type Queues } from '../../test/sqs.ts';
import type { webhookHandler } from '../aws/webhook.ts';
import { kubeconfigOf } from '../cli/testing.ts';
import { findDefinitions } from '../functions.ts';
import { bundleAll } from './bundle.ts';

const token = 'f'.repeat(64);
let folder: string;
let definitions: FunctionDefinition[];
let queues: Queues;
let seed: TestServer;
const secretsManager = createServer((_, response) => {
  const { server, ca = '', token } = seed.connection;
  const cluster = { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  response.end(JSON.stringify({ SecretString: stringify(kubeconfigOf({ token }, cluster)) }));
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bundles-'));
  definitions = await findDefinitions();
  await bundleAll(folder);
  await startBackends();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  secretsManager.close();
  await seed[Symbol.asyncDispose]();
  await queues.stop();
  await rm(folder, { recursive: true });
});

/** Starts SQS, Secrets Manager and a seed, and names them in environment variables before a bundle is imported. */
async function startBackends(): Promise<void> {
  queues = await openQueues(definitions);
  // An empty seed.
  seed = await startTlsServer(({ url }, response) =>
    /\/(managedresources|secrets)$/.test(url.pathname)
      ? sendJson(response, 200, { metadata: {}, items: [] })
      : sendJson(response, 404, statusBody(404, 'NotFound', 'not found')),
  );
  await new Promise<void>((resolve) => secretsManager.listen(0, '127.0.0.1', resolve));
  const variables = {
    SQS_ENDPOINT: queues.endpoint,
    QUEUE_URL_PREFIX: `${queues.endpoint}/000000000000/shoot-flux-`,
    SECRETS_MANAGER_ENDPOINT: `http://127.0.0.1:${(secretsManager.address() as AddressInfo).port}/`,
    KUBECONFIG_SECRET_PREFIX: 'shoot-flux/test/',
    WEBHOOK_TOKEN_SHA256: createHash('sha256').update(token).digest('hex'),
    AWS_REGION: 'us-east-1',
    LOG_LEVEL: 'error',
    SEEDS: 'local',
  };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
}

const handlerOf = async <T = SqsLambda>(name: string): Promise<T> =>
  (await import(pathToFileURL(join(folder, name, 'index.mjs')).href)).handler;

/** A broken chunk would otherwise fail in the middle of a run. */
it('imports every lazy chunk', async () => {
  const files = await readdir(folder, { recursive: true });
  const chunks = files.filter((file) => file.includes('chunks/') && file.endsWith('.mjs'));
  expect(chunks.length).toBeGreaterThan(0);
  for (const chunk of chunks) await import(pathToFileURL(join(folder, chunk)).href);
});

describe('a bundle at work', () => {
  it('sends due changes back to the queue of their function', async () => {
    const handler = await handlerOf('delay');
    const cause = { type: 'notBefore' as const, notBefore: '2020-01-01T00:00:00.000Z' };
    const change = changeOf({ key: keyOf(5), cause });
    const record = recordOf(change);
    expect(await handler(eventOf(record), lambdaContext('delay', 10))).toEqual({ batchItemFailures: [] });
    const { ready } = await lookInto(queues.endpoint, 'shoot-flux-managed-resources.fifo');
    expect(ready.map(({ body }) => JSON.parse(body))).toEqual([{ v: 1, ...change }]);
  });

  it('answers an API server, with data from the seed', async () => {
    const handler = await handlerOf<ReturnType<typeof webhookHandler>>('resource-manager-webhook');
    const image = 'gardener/resource-manager:v1.150.0';
    const containers = [{ name: 'gardener-resource-manager', image, args: ['-v'] }];
    const object = { metadata: { name: 'gardener-resource-manager' }, spec: { template: { spec: { containers } } } };
    const review = reviewOf({ namespace: 'shoot--foo--bar', object });
    const ask = async () => {
      const { body } = await handler({ rawPath: `/${token}`, body: review, isBase64Encoded: false });
      const { patch, warnings } = JSON.parse(body).response;
      expect(JSON.parse(Buffer.from(patch, 'base64').toString('utf8'))).toEqual([
        { op: 'add', path: '/spec/template/spec/containers/0/args/1', value: '--extra-target-namespace=flux-system' },
      ]);
      expect(warnings).toEqual([expect.stringContaining('Cluster shoot--foo--bar cannot be read')]);
      const asked = seed.requests.splice(0).map(({ url, headers }) => [url.pathname, headers['user-agent']]);
      return asked.length > 0 && asked;
    };
    // On a busy machine the time of a review may be over before its request is sent.
    const asked = await eventually('a request to the seed', ask);
    const path = '/apis/extensions.gardener.cloud/v1alpha1/clusters/shoot--foo--bar';
    expect(asked).toEqual([[path, 'shoot-flux/resource-manager-webhook']]);
  });

  it('reaches the seed as its own identity, with the kubeconfig of its AWS secret', async () => {
    const handler = await handlerOf('managed-resources');
    const answer = await handler(
      eventOf(recordOf(changeOf({ key: keyOf(6) }))),
      lambdaContext('managed-resources', 10),
    );
    expect(answer).toEqual({ batchItemFailures: [] });
    expect(seed.requests.map(({ method, url }) => `${method} ${url.pathname}`)).toEqual([
      `GET /apis/extensions.gardener.cloud/v1alpha1/namespaces/${keyOf(6).namespace}/extensions/shoot-flux`,
      `GET /apis/resources.gardener.cloud/v1alpha1/namespaces/${keyOf(6).namespace}/managedresources`,
      `GET /api/v1/namespaces/${keyOf(6).namespace}/secrets`,
    ]);
    expect(seed.requests[0]?.headers).toMatchObject({
      authorization: 'Bearer test-token',
      'user-agent': 'shoot-flux/managed-resources',
    });
  });
});
