import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startCluster } from '@shoot-flux/landscape/cluster';
import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { expect, test } from 'vitest';
import { eventOf } from '../../events/cloudevents/event.ts';
import { structuredEvent } from '../../events/cloudevents/testing.ts';
import { changeOf } from '../../events/testing.ts';
import { standIn } from '../../shared/flux/testing.ts';
import { files, kubeconfigOf, shootFlux } from './testing.ts';

test.each([
  [[], 'name at least one function'],
  [['reconcile'], 'there is no function reconcile to serve; there are fan-out, keys, managed-resources'],
  [['delay'], 'there is no function delay to serve'],
  [['admission'], 'there is no function admission to serve'],
  [['keys'], 'option --sink URL is required'],
])('rejects %j as wrong usage', async (names, message) => {
  const { code, err } = await shootFlux(['serve', ...names]);
  expect(err).toContain(`shoot-flux serve: ${message}`);
  expect(code).toBe(2);
});

test.each([
  [{ K_SINK: 'broker' }, 'The sink is not an address'],
  [{ K_SINK: 'http://broker', K_CE_OVERRIDES: '{' }, 'K_CE_OVERRIDES cannot be used: it is not JSON'],
])('does not start with the SinkBinding %j', async (environment, message) => {
  const kubeconfig = kubeconfigOf();
  await using input = await files({ kubeconfig });
  const clusters = ['--garden', input.paths.kubeconfig, '--seed', `local=${input.paths.kubeconfig}`];
  const args = ['serve', 'keys', ...clusters, '--flux-distribution', standIn.folder, '--port', '0'];
  const { code, err } = await shootFlux(args, '', environment);
  expect(err).toContain(message);
  expect(code).toBe(1);
});

test('answers events in a process of its own, with the address of a SinkBinding, until SIGTERM', async () => {
  const [garden, seed] = await Promise.all([startCluster(gardenCrds()), startCluster(seedCrds())]);
  await using input = await files({ garden: garden.kubeconfig, seed: seed.kubeconfig });
  const config = JSON.stringify({
    ...{ garden: input.paths.garden, seeds: { local: input.paths.seed }, fluxDistribution: standIn.folder, port: 1 },
  });
  await using file = await files({ config });
  const child = spawn(
    process.execPath,
    ['infra/cli/shoot-flux.js', 'serve', 'readiness', '--config', file.paths.config],
    {
      env: { ...process.env, PORT: '0', K_SINK: 'http://127.0.0.1:1/ns/broker' },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const ended = once(child, 'exit');
  try {
    child.stderr.setEncoding('utf8');
    const [said] = (await once(child.stderr, 'data')) as [string];
    const port = /serves readiness for local with Flux v2\.9\.99, events and metrics on port (\d+)/.exec(said)?.[1];
    const post = async (target: string) => {
      const event = structuredEvent(eventOf(changeOf({ function: target }), new Date()));
      const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', ...event });
      return { status: answer.status, text: await answer.text() };
    };
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
    // There is no Extension, so nothing has to be done.
    expect(await post('readiness')).toEqual({ status: 204, text: '' });
    expect(await post('keys')).toMatchObject({ status: 422, text: expect.stringContaining('correct the filter') });
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  } finally {
    child.kill('SIGKILL');
    await Promise.all([garden.stop(), seed.stop()]);
  }
});
