import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { startCluster } from '@shoot-flux/landscape/cluster';
import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { eventually } from '@shoot-flux/landscape/eventually';
import { expect, test } from 'vitest';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { reviewOf } from '../../shared/kube/testing.ts';
import { findAllDefinitions } from '../functions.ts';
import { rbacObjects } from '../gardener/rbac.ts';
import { startGardenWithPushes } from '../webhooks/testing.ts';
import { files, kubeconfigOf, shootOf } from './testing.ts';

const kubeconfig = kubeconfigOf();

const providerConfig = { syncMode: 'Sometimes' };
const review = reviewOf({ object: shootOf({ extensions: [{ type: 'shoot-flux', providerConfig }] }) });

/** Runs the command in a separate process. */
async function startCommand(...clustersAndMore: string[]) {
  const child = spawn(process.execPath, ['infra/cli/shoot-flux.js', 'webhooks', ...clustersAndMore], {
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  child.stderr.setEncoding('utf8');
  const [said] = (await once(child.stderr, 'data')) as [string];
  const [, paths, port] = /serves (.+?) on port (\d+)/.exec(said) ?? [];
  const probes = /probes and metrics on port (\d+)/.exec(said)?.[1];
  return {
    ...{ paths, port: Number(port) },
    probes: `http://127.0.0.1:${probes}`,
    url: `http://127.0.0.1:${port}`,
    async end() {
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([0, null]);
    },
    [Symbol.dispose]: () => child.kill('SIGKILL'),
  };
}

const headers = { 'content-type': 'application/json' };
const post = (url: string) => fetch(url, { method: 'POST', headers, body: review });

test('answers over HTTP on the port that Knative sets, without seeds for admission alone, at the path with the token', async () => {
  await using input = await files({ kubeconfig });
  const hash = createHash('sha256').update('correct').digest('hex');
  const options = ['--webhook-function', 'admission', '--webhook-token-sha256', hash];
  using command = await startCommand('--garden', input.paths.kubeconfig, ...options);
  expect(command.paths).toBe('/admission');
  expect(await (await fetch(`${command.url}/healthz`)).text()).toBe('ok\n');
  expect(await (await post(`${command.url}/admission/correct`)).json()).toMatchObject({
    response: { uid: 'u', allowed: false, status: { message: expect.stringContaining('syncMode') } },
  });
  for (const path of ['/admission', '/admission/wrong', '/resource-manager/correct'])
    expect((await post(`${command.url}${path}`)).status).toBe(404);
  await command.end();
});

test('takes pushes over HTTP where --push-url permits it, as a Knative Service, without other webhooks', async () => {
  const { garden, token, findSecret } = await startGardenWithPushes();
  await using input = await files({ garden: garden.kubeconfig });
  const options = ['--push-url', 'https://flux.example.org', '--webhook-function', 'push-webhook'];
  using command = await startCommand('--garden', input.paths.garden, ...options);
  expect(command.paths).toBe('/push/');
  const post = (path: string, given: string) =>
    fetch(`${command.url}${path}`, { method: 'POST', headers: { 'x-gitlab-token': given }, body: '{}' });
  expect((await post('/push/garden-foo', token)).status).toBe(202);
  const secret = await findSecret();
  expect(secret?.metadata.annotations?.['flux.extensions.gardener.cloud/pushed']).toMatch(/Z \*$/);
  expect((await post('/push/garden-foo', 'another')).status).toBe(401);
  expect((await post('/push/Garden', token)).status).toBe(404);
  expect((await post('/admission', token)).status).toBe(404);
  await command.end();
  await garden.stop();
});

test('answers over HTTPS with certificates of its own, as a Deployment without a proxy', async () => {
  const definitions = await findAllDefinitions();
  const [garden, seed] = await Promise.all([
    startCluster([...gardenCrds(), ...rbacObjects(definitions, 'garden')]),
    startCluster(seedCrds()),
  ]);
  await using input = await files({ garden: garden.kubeconfig, seed: seed.kubeconfig });
  const more = ['--webhook-port', '0', '--webhook-host', '127.0.0.1', '--port', '0'];
  const clusters = ['--garden', input.paths.garden, '--seed', `local=${input.paths.seed}`];
  using command = await startCommand(...clusters, ...more);
  expect(command.paths).toBe('/admission and /resource-manager');
  await eventually('readiness', async () => (await fetch(`${command.probes}/readyz`)).ok);
  expect(await (await fetch(`${command.probes}/metrics`)).text()).toContain('shoot_flux_webhook_answers_total');
  const secret = await garden.client.find<KubeObject & { data: Record<string, string> }>(resources.secrets, {
    namespace: 'shoot-flux',
    name: 'shoot-flux-webhook-certificates',
  });
  const ca = Buffer.from(secret?.data['ca.crt'] ?? '', 'base64').toString('utf8');
  const target = { host: '127.0.0.1', port: command.port, path: '/admission', method: 'POST', ca, headers };
  const sent = request(target).end(review);
  const [response] = await once(sent, 'response');
  expect(JSON.parse(await text(response)).response).toMatchObject({ allowed: false, status: { code: 422 } });
  sent.destroy();
  await command.end();
  await Promise.all([garden.stop(), seed.stop()]);
});
