import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { seedCrds } from '@shoot-flux/landscape/crds';
import { startKubeApi } from '@shoot-flux/landscape/kube-api';
import { expect, test } from 'vitest';
import { createSqsLambda } from '../../events/sqs/lambda.ts';
import {
  changeOf,
  eventOf,
  functionOf,
  keptLog,
  keyOf,
  lambdaContext,
  processDependencies,
  recordOf,
} from '../../events/testing.ts';
import { lambdaClusters } from '../../infra/aws/clusters.ts';
import { resources } from '../../shared/kube/resource.ts';
import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import { done } from '../../shared/runtime/outcome.ts';
import { startTcpProxy } from '../tcp-proxy.ts';

/** AWS Secrets Manager with one secret. */
async function startSecretsManager(secret: string): Promise<AsyncDisposable & { endpoint: string }> {
  const server = createServer(async (incoming, outgoing) => {
    await text(incoming);
    outgoing.end(JSON.stringify({ SecretString: secret }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('on Lambda, runs for a seed that swallows packets soon fail at once and wait in the delay queue', async () => {
  await using api = await startKubeApi();
  for (const crd of seedCrds()) api.objects.create(crd);
  await using proxy = await startTcpProxy(api.url);
  await using secrets = await startSecretsManager(api.kubeconfig().replaceAll(api.url, proxy.url));
  const kube = lambdaClusters(
    'readiness',
    { kubeconfigSecretPrefix: 'shoot-flux/test/readiness/' },
    {
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'AK',
      AWS_SECRET_ACCESS_KEY: 'SK',
      SECRETS_MANAGER_ENDPOINT: secrets.endpoint,
    },
  );
  const { log, lines } = keptLog();
  const delayed: ChangeRequest[] = [];
  const handler = functionOf(async (key, context) => {
    await (await context.kube(key.cluster)).find(resources.extensions, key);
    return done;
  }, 'readiness');
  const lambda = createSqsLambda(handler, {
    ...processDependencies({ kube, log }),
    sender: {
      send: async () => {},
      retryLater: async (change) => void delayed.push(change),
      deadLetter: async () => {},
    },
    visibility: async () => {},
  });
  /** Invokes the Lambda with changes of ten keys that have been retried before. */
  const invoke = async () => {
    const change = (n: number) => changeOf({ function: 'readiness', key: keyOf(n) });
    const records = Array.from({ length: 10 }, (_, n) => recordOf(change(n), { receiveCount: 50 }));
    await lambda(eventOf(...records), lambdaContext('readiness', 10));
  };

  await invoke();
  expect(lines.filter(({ outcome }) => outcome === 'done')).toHaveLength(10);
  proxy.behave('swallow');
  // Three calls without an answer, each after a new connection has failed at the latest.
  for (let invocation = 0; invocation < 3; invocation++) await invoke();
  lines.length = 0;
  delayed.length = 0;
  await invoke();
  await invoke();
  // One call at most is the next probe; the others fail at once.
  expect(lines.filter(({ error }) => `${error}`.includes('has not answered since')).length).toBeGreaterThanOrEqual(18);
  // Attempts beyond the last one: the changes are not given up.
  expect(delayed.length).toBe(20);
  expect(lines.filter(({ outcome }) => outcome === 'dead_letter')).toEqual([]);

  proxy.behave('forward');
  lines.length = 0;
  const deadline = performance.now() + 15_000;
  while (performance.now() < deadline && !lines.some(({ outcome }) => outcome === 'done')) await invoke();
  expect(lines.some(({ outcome }) => outcome === 'done')).toBe(true);
});
