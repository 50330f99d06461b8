import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { files, shootFlux } from './testing.ts';

const kubeconfig = {
  clusters: [{ name: 'nowhere', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'nobody', user: { token: 'none' } }],
  contexts: [{ name: 'here', context: { cluster: 'nowhere', user: 'nobody' } }],
  'current-context': 'here',
};

const review = {
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: {
    uid: 'u',
    operation: 'CREATE',
    object: {
      apiVersion: 'core.gardener.cloud/v1beta1',
      kind: 'Shoot',
      metadata: { namespace: 'garden-foo', name: 'bar' },
      spec: { extensions: [{ type: 'shoot-flux', providerConfig: { syncMode: 'Sometimes' } }] },
    },
  },
};

test('answers over HTTP where Knative says, and ends when it is asked to', { timeout: 20_000 }, async () => {
  await using input = await files({ kubeconfig });
  const { kubeconfig: file } = input.paths;
  const args = ['infra/cli/main.ts', 'webhooks', '--garden', file, '--seed', `local=${file}`];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  try {
    child.stderr.setEncoding('utf8');
    const [said] = (await once(child.stderr, 'data')) as [string];
    const port = /answers API servers at \/admission and \/resource-manager on port (\d+)/.exec(said)?.[1];
    const url = `http://127.0.0.1:${port}`;
    expect(await (await fetch(`${url}/healthz`)).text()).toBe('ok\n');
    const answer = await fetch(`${url}/admission`, { method: 'POST', body: JSON.stringify(review) });
    expect(await answer.json()).toMatchObject({
      response: { uid: 'u', allowed: false, status: { message: expect.stringContaining('syncMode') } },
    });
    expect((await fetch(`${url}/elsewhere`)).status).toBe(404);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  } finally {
    child.kill('SIGKILL');
  }
});

test.each([
  [[], '--garden KUBECONFIG is missing'],
  [['--garden', 'kubeconfig', '--seed', 'local'], '--seed local is not of the form NAME=KUBECONFIG'],
])('%j is wrong usage', async (args, message) => {
  const { code, err } = await shootFlux(['webhooks', ...args]);
  expect(code).toBe(2);
  expect(err).toBe(`shoot-flux webhooks: ${message}; see: shoot-flux webhooks --help\n`);
});

test('the environment variable PORT is named where it is no port', async () => {
  await using input = await files({ kubeconfig });
  const { kubeconfig: file } = input.paths;
  vi.stubEnv('PORT', 'http');
  try {
    const { code, err } = await shootFlux(['webhooks', '--garden', file, '--seed', `local=${file}`]);
    expect({ code, err }).toMatchObject({
      code: 2,
      err: expect.stringContaining('the environment variable PORT http is not a port'),
    });
  } finally {
    vi.unstubAllEnvs();
  }
});
