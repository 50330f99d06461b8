import { createServer } from 'node:http';
import { type Cluster, startCluster } from '@shoot-flux/landscape/cluster';
import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseChange } from '../../events/change.ts';
import { type CloudEvent, delayedEventOf, encodeEvent, eventOf } from '../../events/cloudevents/event.ts';
import { startTestSink, type TestSink } from '../../events/cloudevents/testing.ts';
import { changeOf } from '../../events/testing.ts';
import { files, shootFlux } from '../../infra/cli/testing.ts';
import { listen } from '../../infra/listen.ts';
import { resources } from '../../shared/kube/resource.ts';
import { keyText } from '../../shared/runtime/key.ts';
import { startCli } from './cli-process.ts';
import { fluxConfig } from './garden.ts';

const fieldManager = 'test';
const soon = { timeout: 60_000, interval: 50 };

let garden: Cluster;
let seed: Cluster;
let sink: TestSink;
let input: Awaited<ReturnType<typeof files<'garden' | 'seed'>>>;
let eventsPort: number;

beforeEach(async () => {
  [garden, seed, sink] = await Promise.all([startCluster(gardenCrds()), startCluster(seedCrds()), startTestSink()]);
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'garden-foo' } };
  await garden.client.create(resources.namespaces, namespace, { fieldManager });
  input = await files({ garden: garden.kubeconfig, seed: seed.kubeconfig });
  const server = createServer();
  eventsPort = await listen(server, 0);
  await new Promise((resolve) => server.close(resolve));
});
afterEach(async () => {
  await input[Symbol.asyncDispose]();
  await Promise.all([garden.stop(), seed.stop(), sink[Symbol.asyncDispose]()]);
});

const watch = (...args: string[]) => {
  const clusters = ['--garden', input.paths.garden, '--seed', `local=${input.paths.seed}`];
  // As a SinkBinding sets it.
  const environment = { K_SINK: sink.url, K_CE_OVERRIDES: '{"extensions":{"landscape":"dev"}}' };
  return startCli(['watch', ...clusters, '--port', '0', ...args], environment);
};

async function post({ attributes, data }: CloudEvent, more: Record<string, string> = {}): Promise<number> {
  const event = encodeEvent({ attributes: { ...attributes, ...more }, data });
  return (await fetch(`http://127.0.0.1:${eventsPort}/`, { method: 'POST', ...event })).status;
}

describe('shoot-flux watch with a sink', () => {
  it('sends CloudEvents to the address of a SinkBinding', async () => {
    await garden.client.create(resources.configMaps, fluxConfig({}), { fieldManager });
    await using watcher = watch();
    await watcher.until(/^shoot-flux watches the garden, local and sends to the sink 127\.0\.0\.1:\d+, probes/m);
    await vi.waitFor(() => {
      const types = sink.events.map(({ attributes }) => attributes.type).toSorted();
      expect(types).toEqual(['dev.shoot-flux.fan-out.change.v1', 'dev.shoot-flux.keys.change.v1']);
    }, soon);
    for (const { attributes, data } of sink.events) {
      expect(attributes).toMatchObject({ landscape: 'dev', source: '/shoot-flux/clusters/garden' });
      expect(keyText(parseChange(data).key)).toBe('garden/garden-foo/flux-config');
    }
    expect(await watcher.end()).toBe(0);
  });

  it('keeps changes that wait, and lists dead letters', async () => {
    await using watcher = watch('--events-port', String(eventsPort));
    await watcher.until(/and takes what waits/);
    const later = (notBefore: string) => changeOf({ cause: { type: 'notBefore', notBefore } });
    expect(await post(delayedEventOf(later(new Date(Date.now() + 500).toISOString()), new Date()))).toBe(204);
    const error = { knativeerrordest: 'http://keys', knativeerrorcode: '422', knativeerrordata: 'The key is bad.' };
    expect(await post(eventOf(changeOf({ function: 'keys' }), new Date()), error)).toBe(204);
    await vi.waitFor(
      () => expect(sink.events.map(({ attributes }) => attributes.subject)).toEqual(['shoot--dev--apple/shoot-flux']),
      soon,
    );
    expect(JSON.parse((await watcher.page('/dead-letters')).text)).toMatchObject({
      deadLetters: [{ function: 'keys', reason: 'The key is bad.' }],
    });
    expect((await watcher.page('/metrics')).text).toContain('shoot_flux_terminal_total{function="keys"} 1');
    expect(await watcher.end()).toBe(0);
  });

  it('says which options do not go together', async () => {
    const { code, err } = await shootFlux(['watch', '--garden', input.paths.garden, '--queue-prefix', 'x'], '', {
      K_SINK: sink.url,
    });
    expect(err).toContain('--queue-prefix and K_SINK exclude each other');
    expect(code).toBe(2);
  });
});
