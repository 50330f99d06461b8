import { createServer } from 'node:http';
import { type Cluster, startCluster } from '@shoot-flux/landscape/cluster';
import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseChange } from '../../events/change.ts';
import { type CloudEvent, delayedEventOf, encodeEvent, eventOf } from '../../events/cloudevents/event.ts';
import { startTestSink, type TestSink } from '../../events/cloudevents/testing.ts';
import { changeOf, lookInto } from '../../events/testing.ts';
import { files, kubeconfigOf, shootFlux } from '../../infra/cli/testing.ts';
import { findDefinitions } from '../../infra/functions.ts';
import { listen } from '../../infra/listen.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { keyText } from '../../shared/runtime/key.ts';
import { type CommandProcess, startCommand } from '../command-process.ts';
import { createQueues, type Emulator, startEmulator } from '../sqs.ts';
import { fluxConfig } from './garden.ts';

const prefix = 'shoot-flux-prod-';
const soon = { timeout: 240_000, interval: 50 };

let garden: Cluster;
let seed: Cluster;
let emulator: Emulator;
let input: Awaited<ReturnType<typeof files<'garden' | 'seed'>>>;

/** Around each test of a suite: a garden, a seed and SQS. */
function withServers(): void {
  beforeEach(async () => {
    [garden, seed, emulator] = await Promise.all([
      startCluster(gardenCrds()),
      startCluster(seedCrds()),
      startEmulator(),
    ]);
    for (const name of ['shoot--foo--bar', 'shoot--foo--late', 'shoot-flux']) seed.api.objects.ensureNamespace(name);
    garden.api.objects.ensureNamespace('garden-foo');
    input = await files({ garden: garden.kubeconfig, seed: seed.kubeconfig });
  });
  afterEach(async () => {
    await input[Symbol.asyncDispose]();
    await Promise.all([garden.stop(), seed.stop(), emulator.stop()]);
  });
}

/** Creates the queues, as the deployment of the functions does, which serves these seeds. */
async function deploy(seeds: string[]): Promise<void> {
  await (await createQueues(emulator.endpoint, await findDefinitions(), { prefix, seeds })).stop();
}

function watch(clusters: string[], more: string[] = [], environment: Record<string, string> = {}): CommandProcess {
  const own = ['--queue-prefix', prefix, '--sqs-endpoint', emulator.endpoint];
  return startCommand(['watch', ...clusters, ...own, ...more], { environment });
}

const ofGarden = () => ['--garden', input.paths.garden];
const ofSeed = (name: string) => ['--seed', `${name}=${input.paths.seed}`];

async function keysFor(name: string): Promise<string[]> {
  const { ready } = await lookInto(emulator.endpoint, `${prefix}${name}.fifo`);
  const changes = ready.map(({ body }) => JSON.parse(body));
  // A resync may come at any time.
  return changes
    .filter(({ cause }) => cause.type === 'object')
    .map(({ key }) => `${key.cluster}/${key.namespace}/${key.name}`);
}

function createExtension(namespace: string): void {
  const metadata = { namespace, name: 'shoot-flux', annotations: { 'gardener.cloud/operation': 'reconcile' } };
  const extension = { apiVersion: 'extensions.gardener.cloud/v1alpha1', kind: 'Extension', metadata };
  seed.api.objects.create({ ...extension, spec: { type: 'shoot-flux' } } as KubeObject);
}

const createFluxConfig = () => garden.api.objects.create(fluxConfig({}));

it.each<[string[], Record<string, string>, string]>([
  [[], {}, 'option --garden KUBECONFIG or --seed NAME=KUBECONFIG is required'],
  [['--garden', 'none'], {}, 'option --garden KUBECONFIG or --seed NAME=KUBECONFIG is required'],
  [
    ['--garden', 'kubeconfig', '--queue-prefix', 'x'],
    { K_SINK: 'http://sink.example' },
    '--queue-prefix and K_SINK exclude each other',
  ],
])('shoot-flux watch ends with one sentence for %j', async (args, environment, sentence) => {
  await using input = await files({ kubeconfig: kubeconfigOf() });
  const own = args.map((arg) => (arg === 'kubeconfig' ? input.paths.kubeconfig : arg));
  const { code, err } = await shootFlux(['watch', ...own], '', environment);
  expect(err).toContain(`shoot-flux watch: ${sentence}`);
  expect(code).toBe(2);
});

describe('shoot-flux watch', () => {
  withServers();

  it('sends changes of the garden and a seed, has probes, metrics and a heartbeat, and ends gracefully', async () => {
    await deploy(['local']);
    createExtension('shoot--foo--bar');
    createFluxConfig();
    const health = ['--shoot-health', '--namespace', 'local=shoot-flux'];
    await using watcher = watch([...ofGarden(), ...ofSeed('local')], health);
    await watcher.until(/^shoot-flux watches the garden, local and sends to the queues shoot-flux-prod-\*, probes/m);
    await vi.waitFor(async () => {
      expect(await keysFor('managed-resources')).toEqual(['local/shoot--foo--bar/shoot-flux']);
      expect(await keysFor('keys')).toEqual(['garden/garden-foo/flux-config']);
    }, soon);
    await vi.waitFor(async () => expect((await watcher.page('/readyz')).status).toBe(200), soon);
    expect((await watcher.page('/readyz')).text).toContain('ok local extensions: 1 objects');
    expect(await watcher.page('/healthz')).toEqual({ status: 200, text: 'ok\n' });
    const metrics = (await watcher.page('/metrics')).text;
    expect(metrics).toContain('shoot_flux_watcher_objects{cluster="local",resource="extensions"} 1');
    expect(metrics).toContain('shoot_flux_cluster_up{cluster="garden"} 1');
    const labels = 'cluster="local",project="foo",state="progressing",flux_version="none"';
    expect(metrics).toContain(`shoot_flux_shoots{${labels}} 1`);
    expect(metrics).toContain('shoot_flux_rollouts{state="paused"} 0');

    createExtension('shoot--foo--late');
    await vi.waitFor(async () => {
      expect(await keysFor('managed-resources')).toContain('local/shoot--foo--late/shoot-flux');
    }, soon);
    await vi.waitFor(async () => {
      const later = (await watcher.page('/metrics')).text;
      expect(later).toContain('shoot_flux_watcher_objects{cluster="local",resource="extensions"} 2');
      expect(later).toContain('shoot_flux_watcher_up{cluster="local",resource="extensions"} 1');
    }, soon);
    await vi.waitFor(async () => {
      const lease = { namespace: 'shoot-flux', name: 'gardener-extension-heartbeat' };
      expect(await seed.client.find(resources.leases, lease)).toBeDefined();
    }, soon);
    expect(await watcher.end()).toBe(0);
    expect(watcher.output()).toContain('"message":"stopping","signal":"SIGTERM"');
  });

  it('of two for the same clusters does no harm: each change is in the queue once', async () => {
    await deploy(['local']);
    createExtension('shoot--foo--bar');
    await using one = watch(ofSeed('local'));
    await using other = watch(ofSeed('local'));
    await vi.waitFor(async () => {
      expect((await one.page('/readyz')).status).toBe(200);
      expect((await other.page('/readyz')).status).toBe(200);
    }, soon);
    createExtension('shoot--foo--late');
    const sent = async (watcher: CommandProcess) =>
      Number(
        /watcher_changes_total\{function="managed-resources"\} (\d+)/.exec((await watcher.page('/metrics')).text)?.[1],
      );
    await vi.waitFor(async () => {
      expect(Math.min(await sent(one), await sent(other))).toBeGreaterThanOrEqual(2);
    }, soon);
    // They are counted some milliseconds before they are sent.
    await vi.waitFor(async () => {
      expect((await keysFor('managed-resources')).sort()).toEqual([
        'local/shoot--foo--bar/shoot-flux',
        'local/shoot--foo--late/shoot-flux',
      ]);
    }, soon);
  });

  it('ends with one sentence when a queue is missing, or its functions serve other seeds', async () => {
    await using early = watch(ofSeed('local'));
    expect(await early.end('SIGCONT')).toBe(1);
    expect(early.output()).toMatch(
      /^shoot-flux watch: The queue shoot-flux-prod-\S+ does not exist; deploy the functions first, or correct --queue-prefix or the region\.\n$/,
    );
    await deploy(['a', 'b']);
    await using wrong = watch(ofSeed('local'));
    expect(await wrong.end('SIGCONT')).toBe(1);
    expect(wrong.output()).toBe(
      'shoot-flux watch: The functions behind the queues shoot-flux-prod-* serve a, b, and not local; add the seed to ' +
        'the functions first, or choose their --queue-prefix.\n',
    );
  });
});

describe('shoot-flux watch with a sink', () => {
  withServers();
  let sink: TestSink;
  let eventsPort: number;

  beforeEach(async () => {
    sink = await startTestSink();
    const server = createServer();
    eventsPort = await listen(server, 0);
    await new Promise((resolve) => server.close(resolve));
  });
  afterEach(() => sink[Symbol.asyncDispose]());

  const watchWithSink = (...args: string[]) =>
    // As a SinkBinding sets it.
    startCommand(['watch', ...ofGarden(), ...ofSeed('local'), ...args], {
      environment: { K_SINK: sink.url, K_CE_OVERRIDES: '{"extensions":{"landscape":"dev"}}' },
    });

  async function post({ attributes, data }: CloudEvent, more: Record<string, string> = {}): Promise<number> {
    const event = encodeEvent({ attributes: { ...attributes, ...more }, data });
    return (await fetch(`http://127.0.0.1:${eventsPort}/`, { method: 'POST', ...event })).status;
  }

  it('sends CloudEvents to the address of a SinkBinding', async () => {
    createFluxConfig();
    await using watcher = watchWithSink();
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
    await using watcher = watchWithSink('--events-port', String(eventsPort));
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
});
