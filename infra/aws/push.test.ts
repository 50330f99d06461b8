import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { findPushWebhook } from '../functions.ts';
import { startGardenWithPushes } from '../webhooks/testing.ts';
import { pushHandler } from './webhook.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

it('notes a push that a Git host reports to the function URL', async () => {
  const { garden, token, findSecret } = await startGardenWithPushes();
  const secretsManager = createServer((_, response) => {
    response.end(JSON.stringify({ SecretString: garden.kubeconfig }));
  });
  await new Promise<void>((resolve) => secretsManager.listen(0, '127.0.0.1', resolve));
  const { port } = secretsManager.address() as AddressInfo;
  const environment = {
    ...{ AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'AK', AWS_SECRET_ACCESS_KEY: 'SK' },
    ...{ SECRETS_MANAGER_ENDPOINT: `http://127.0.0.1:${port}/`, KUBECONFIG_SECRET_PREFIX: 'push-webhook/' },
    ...{ LOG_LEVEL: 'error', PUSH_URL: 'https://flux.example.org' },
  };
  for (const [variable, value] of Object.entries(environment)) vi.stubEnv(variable, value);
  const handler = pushHandler(await findPushWebhook());
  const body = JSON.stringify({ ref: 'refs/heads/main' });
  const signature = `sha256=${createHmac('sha256', token).update(body).digest('hex')}`;
  const call = (rawPath: string, signed = signature, text = body, isBase64Encoded = false) =>
    handler({ rawPath, headers: { 'x-hub-signature-256': signed }, body: text, isBase64Encoded });
  expect(await call('/push/garden-foo', `${signature}0`)).toMatchObject({ statusCode: 401 });
  expect(await call('/push/garden-bar')).toMatchObject({ statusCode: 401 });
  expect(await call('/admission/garden-foo')).toMatchObject({ statusCode: 404 });
  expect(await call('/push/garden-foo', signature, 'x'.repeat(1024 * 1024 + 1))).toMatchObject({ statusCode: 413 });
  const pushed = async () => (await findSecret())?.metadata.annotations?.['flux.extensions.gardener.cloud/pushed'];
  expect(await pushed()).toBeUndefined();
  const encoded = Buffer.from(body).toString('base64');
  expect(await call('/push/garden-foo', signature, encoded, true)).toMatchObject({ statusCode: 202 });
  expect(await pushed()).toMatch(/Z \*$/);
  await new Promise((resolve) => secretsManager.close(resolve));
  await garden.stop();
});
