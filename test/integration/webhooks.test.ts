import { once } from 'node:events';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';
import { type Cluster, startCluster } from '@shoot-flux/landscape/cluster';
import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { eventually } from '@shoot-flux/landscape/eventually';
import type { RequestSummary } from '@shoot-flux/landscape/kube-api';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { files } from '../../infra/cli/testing.ts';
import { findWebhookDefinitions, findWebhooks } from '../../infra/functions.ts';
import { webhookObjects } from '../../infra/gardener/webhooks.ts';
import { startProduct } from '../../infra/process/product.ts';
import { answererOf } from '../../infra/webhooks/answer.ts';
import { certificateFromFiles } from '../../infra/webhooks/certificate-files.ts';
import { renewed } from '../../infra/webhooks/certificates.ts';
import { managedCertificates } from '../../infra/webhooks/managed-certificates.ts';
import { configurations, publish } from '../../infra/webhooks/publish.ts';
import { startWebhookServer } from '../../infra/webhooks/server.ts';
import { serveWebhooks, type WebhookOptions, type Webhooks } from '../../infra/webhooks/webhooks.ts';
import { clusterFactory, NAMESPACE } from '../../shared/gardener/testing.ts';
import { createKubeClient } from '../../shared/kube/http-client.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { noMetrics } from '../../shared/runtime/metrics.ts';
import { settingsOf } from '../scenarios/context.ts';
import { tokenOf, usersOf } from '../scenarios/identities.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime(2);

const webhookDefinitions = await findWebhookDefinitions();
const hosts = ['127.0.0.1', 'shoot-flux.shoot-flux.svc'];
const configuration = { name: 'gardener-extension-shoot-flux' };
const certificates = { namespace: 'shoot-flux', name: 'shoot-flux-webhook-certificates' };
const settings = settingsOf({ landscape: 'canary', fluxDistribution: '' });

let garden: Cluster;
let seed: Cluster;
let forget: (() => void)[];
let log: string[] = [];
/** Holds a request before it is carried out. */
let hold: (request: RequestSummary) => Promise<void> | undefined;

/** API servers where each identity has only its shipped rights. */
beforeAll(async () => {
  const start = async (crds: KubeObject[], place: 'garden' | 'seed') => {
    const { tokens, rbac } = await usersOf(place);
    const objects = [...crds, ...rbac, ...webhookObjects(webhookDefinitions, place)];
    return startCluster(objects, { tokens, authorization: 'RBAC', onRequest: (request) => hold?.(request) });
  };
  [garden, seed] = await Promise.all([start(gardenCrds(), 'garden'), start(seedCrds(), 'seed')]);
  forget = [garden.api.checkpoint(), seed.api.checkpoint()];
});
beforeEach(() => {
  for (const bringBack of forget) bringBack();
  garden.api.faults.clear();
  seed.api.faults.clear();
  log = [];
  hold = () => undefined;
});
afterAll(async () => {
  await Promise.all([garden.stop(), seed.stop()]);
});

const clientsOf = (identity: string) => async (cluster: string, signal?: AbortSignal) => {
  const { connection } = cluster === 'garden' ? garden : seed;
  return createKubeClient({ ...connection, token: tokenOf(identity) }, signal === undefined ? {} : { signal });
};

/** A process that serves the webhooks. */
async function start(options: Partial<WebhookOptions> = {}): Promise<Webhooks & AsyncDisposable> {
  const lent = { clientsOf, settings, metrics: noMetrics, log: createLog('debug', (line) => log.push(line)) };
  const webhooks = await serveWebhooks({ port: 0, hosts, ...options }, lent);
  return { ...webhooks, [Symbol.asyncDispose]: () => webhooks.stop() };
}

const hasCertificate = (webhooks: Webhooks) => eventually('a certificate', async () => webhooks.status().ready);

const isTrusted = () =>
  Promise.all([garden, seed].map((cluster) => eventually('the authority', () => bundleOf(cluster))));

/** Serves the webhooks and waits until the API servers have the CA. */
async function startReady() {
  const webhooks = await start();
  await Promise.all([hasCertificate(webhooks), isTrusted()]);
  return webhooks;
}

/** Holds the requests with this path, of any method or one. `asked`: the first one has arrived. */
function holdAt(part: string, only?: string) {
  const asked = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  hold = ({ method, path }) => {
    if (!path.includes(part) || (only !== undefined && method !== only)) return undefined;
    asked.resolve();
    return goOn.promise;
  };
  return { asked: asked.promise, goOn: goOn.resolve };
}

/** Returns the caBundle of an API server. */
async function bundleOf(cluster: Cluster, name = configuration.name): Promise<string | undefined> {
  const resource = configurations[cluster === garden ? 'Validating' : 'Mutating'];
  const live = await cluster.client.find<KubeObject & { webhooks: { clientConfig: { caBundle?: string } }[] }>(
    resource,
    { name },
  );
  const caBundle = live?.webhooks[0]?.clientConfig.caBundle;
  return caBundle === undefined ? undefined : Buffer.from(caBundle, 'base64').toString('utf8');
}

const storedSecret = () =>
  garden.client.find<KubeObject & { data: Record<string, string> }>(resources.secrets, certificates);

interface Answer {
  status: number;
  body: string;
  /** Subject of the serving certificate's issuer. */
  issuer: string;
  response: { allowed: boolean; patch?: string; warnings?: string[]; status?: { code: number; message: string } };
}

/** Calls like an API server: over TLS, trusting only the bundle. */
async function call(port: number, path: string, body: unknown, ca: string | undefined, agent?: Agent): Promise<Answer> {
  const options = { host: '127.0.0.1', port, path, method: 'POST', ca, ...(agent && { agent }) };
  const outgoing = request(options).end(typeof body === 'string' ? body : JSON.stringify(body));
  const [response] = await once(outgoing, 'response');
  const issuer = (response.socket as TLSSocket).getPeerCertificate().issuer.CN?.toString() ?? '';
  const received = await text(response);
  const parsed = response.statusCode === 200 ? JSON.parse(received) : {};
  return { status: response.statusCode, body: received, issuer, response: parsed.response };
}

const review = (asked: Record<string, unknown>) => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: { uid: 'u1', operation: 'CREATE', ...asked },
});

const shootReview = (providerConfig: unknown) =>
  review({
    object: {
      kind: 'Shoot',
      metadata: { name: 'bar', namespace: 'garden-foo' },
      spec: { extensions: [{ type: 'shoot-flux', providerConfig }] },
    },
    oldObject: null,
  });

const deploymentReview = (args: string[]) => {
  const image = 'registry.example.org/gardener/resource-manager:v1.150.0';
  const containers = [{ name: 'gardener-resource-manager', image, args }];
  const object = { metadata: { name: 'gardener-resource-manager' }, spec: { template: { spec: { containers } } } };
  return review({ namespace: NAMESPACE, name: 'gardener-resource-manager', object });
};

const patchOf = ({ response }: Answer): unknown =>
  response.patch === undefined ? undefined : JSON.parse(Buffer.from(response.patch, 'base64').toString('utf8'));

function putCluster(providerConfig?: unknown): void {
  const cluster = clusterFactory({ spec: { extensions: [{ type: 'shoot-flux', providerConfig }] } });
  const spec = { ...cluster.spec, cloudProfile: {}, seed: {} };
  seed.api.objects.create({ ...cluster, spec } as unknown as KubeObject);
}

function putFluxConfig(data: Record<string, string>): void {
  garden.api.objects.ensureNamespace('garden-foo');
  const metadata = { name: 'flux-config', namespace: 'garden-foo' };
  garden.api.objects.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data } as KubeObject);
}

describe('the webhooks of a process', () => {
  it('answer API servers that trust the published CA', async () => {
    await using webhooks = await startReady();
    const [ca, seedCa] = [await bundleOf(garden), await bundleOf(seed)];
    expect(seedCa).toBe(ca);
    expect(await call(webhooks.port, '/admission', shootReview({ syncMode: 'Once' }), ca)).toMatchObject({
      status: 200,
      response: { uid: 'u1', allowed: true },
    });
    const refused = await call(webhooks.port, '/admission', shootReview({ typo: 1 }), ca);
    expect(refused.response).toMatchObject({ uid: 'u1', allowed: false, status: { code: 422 } });
    expect(refused.response.status?.message).toContain('providerConfig: typo is not a known key');
    await expect(call(webhooks.port, '/admission', shootReview({}), undefined)).rejects.toThrow();
  });

  it('add the namespaces of the configuration from Cluster and garden', async () => {
    putCluster({ kustomization: { template: { metadata: { namespace: 'apps' }, spec: { path: './' } } } });
    putFluxConfig({ namespace: 'flux-x', repositoryUrl: 'https://example.com/x' });
    await using webhooks = await startReady();
    const answer = await call(webhooks.port, '/resource-manager', deploymentReview(['-v']), await bundleOf(seed));
    expect(answer.response).toMatchObject({ allowed: true });
    expect(answer.response.warnings).toBeUndefined();
    expect(patchOf(answer)).toEqual([
      { op: 'add', path: '/spec/template/spec/containers/0/args/1', value: '--extra-target-namespace=flux-x' },
      { op: 'add', path: '/spec/template/spec/containers/0/args/2', value: '--extra-target-namespace=apps' },
    ]);
  });

  it.each<[string, () => void, string, string, string]>([
    [
      'the garden does not answer',
      () => {
        putCluster({ flux: { namespace: 'flux-y' } });
        garden.api.faults.add({ match: { path: /configmaps/ }, action: 'status', status: 500 });
      },
      'flux-y',
      'ConfigMap garden-foo/flux-config of the garden cannot be read, so target namespaces may be missing',
      '500',
    ],
    [
      'the Cluster is not there',
      () => {},
      'flux-system',
      `Cluster ${NAMESPACE} cannot be read, so target namespaces may be missing`,
      'local has no such Cluster',
    ],
  ])('name what they could not read when %s, and patch the rest', async (_, prepare, namespace, doubt, reason) => {
    await using webhooks = await startReady();
    prepare();
    const answer = await call(webhooks.port, '/resource-manager', deploymentReview(['-v']), await bundleOf(seed));
    expect(answer.response).toMatchObject({ allowed: true, warnings: [expect.stringContaining(doubt)] });
    expect(patchOf(answer)).toEqual([expect.objectContaining({ value: `--extra-target-namespace=${namespace}` })]);
    expect(log.join('\n')).toContain(doubt);
    expect(log.join('\n')).toContain(reason);
  });

  it('answer before the API server times out, also when the seed is slow and the garden hangs', async () => {
    putCluster();
    await using webhooks = await startReady();
    const ca = await bundleOf(seed);
    // Each stays within the time limit of its request; one after the other would take too long.
    seed.api.faults.add({ match: { path: /clusters/ }, action: 'latency', ms: 3000 });
    garden.api.faults.add({ match: { path: /configmaps/ }, action: 'hang' });
    const answer = await call(webhooks.port, '/resource-manager', deploymentReview([]), ca);
    expect(answer.response).toMatchObject({ allowed: true, warnings: [expect.any(String)] });
    expect(patchOf(answer)).toEqual([expect.objectContaining({ value: '--extra-target-namespace=flux-system' })]);
    expect(log.join('\n')).toContain('before the time limit of this run');
  });

  it('are part of shoot-flux run, with its probes and metrics, which is ready only once they have a certificate', async () => {
    const match = { path: /secrets\/shoot-flux-webhook/ };
    garden.api.faults.add({ match, action: 'status', status: 503, times: 1000 });
    await using input = await files({ garden: garden.kubeconfig, local: seed.kubeconfig });
    const product = await startProduct({
      ...{ credentials: () => async (cluster: string) => (cluster === 'garden' ? garden : seed).connection, settings },
      ...{ log: createLog('error', () => {}), port: 0, threadKubeconfigs: input.paths, webhooks: { port: 0, hosts } },
    });
    const probe = async (path: string) => fetch(`http://127.0.0.1:${product.port}${path}`);
    await eventually('the first lists', async () => product.watcher.ready());
    const refused = await probe('/readyz');
    expect([refused.status, await refused.text()]).toEqual([503, expect.stringContaining('not ready webhooks: ')]);
    garden.api.faults.clear();
    const isReady = async (page: Response) => page.ok && (await page.text()).includes('webhooks: certificate until 20');
    await eventually('readiness', async () => isReady(await probe('/readyz')));
    await isTrusted();
    // A counter that appears with its first failure shows no increase, so an alert would miss it.
    const atStart = await (await probe('/metrics')).text();
    expect(atStart).toContain('shoot_flux_webhook_answers_total{function="admission",result="failed"} 0');
    expect(atStart).toContain('shoot_flux_terminal_total{function="managed-resources"} 0');
    // An API server asks again when the thread of the functions has not started in time.
    const ask = async () =>
      call(product.webhookPort ?? 0, '/admission', shootReview({ typo: 1 }), await bundleOf(garden));
    const isAnswered = async () => (await ask()).response?.allowed === false;
    await eventually('the refusal', isAnswered);
    const counted = 'shoot_flux_webhook_answers_total{function="admission",result="refused"}';
    await eventually('the metric', async () => (await (await probe('/metrics')).text()).includes(counted));
    await product.stop();
  });

  it('serve the garden while a seed does not answer', async () => {
    const held = holdAt('mutatingwebhookconfigurations');
    await using webhooks = await start();
    await Promise.all([held.asked, hasCertificate(webhooks)]);
    const ca = await eventually('the authority in the garden', () => bundleOf(garden));
    expect(await call(webhooks.port, '/admission', shootReview({}), ca)).toMatchObject({ status: 200 });
    held.goOn();
    expect(await eventually('the authority in the seed', () => bundleOf(seed))).toBe(ca);
  });

  it('start without the garden, and recover when it is back', async () => {
    garden.api.faults.add({ match: { path: /secrets/ }, action: 'status', status: 503 });
    await using webhooks = await start();
    const problem = await eventually('the refusal', async () =>
      webhooks.status().problems.find((sentence) => sentence.includes('503')),
    );
    expect(problem).toContain('shoot-flux-webhook-certificates');
    await eventually('the line', async () => log.join('\n').includes('webhook certificate'));
    await expect(call(webhooks.port, '/admission', shootReview({}), undefined)).rejects.toThrow();
    await isTrusted();
    await hasCertificate(webhooks);
    expect(await call(webhooks.port, '/admission', shootReview({}), await bundleOf(garden))).toMatchObject({
      status: 200,
    });
  });

  it('stop without waiting for idle connections, and after a time limit for a request that does not end', async () => {
    const webhooks = await startReady();
    const ca = await bundleOf(garden);
    const opened = () => connect({ host: '127.0.0.1', port: webhooks.port, ca });
    const [silent, slow] = [opened(), opened()];
    await Promise.all([silent, slow].map((socket) => once(socket, 'secureConnect')));
    const closed = [silent, slow].map((socket) => once(socket.resume(), 'close'));
    slow.write('POST /admission HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\n{');
    // The server has read its beginning by then, because a later request on another connection is answered.
    await call(webhooks.port, '/admission', shootReview({}), ca);
    await webhooks.stop();
    await Promise.all(closed);
  });

  it('finish current answers when they stop', async () => {
    putCluster();
    const webhooks = await startReady();
    const ca = await bundleOf(seed);
    const agent = new Agent({ keepAlive: true, ca });
    await call(webhooks.port, '/admission', shootReview({}), ca, agent);
    const held = holdAt('configmaps');
    const answering = call(webhooks.port, '/resource-manager', deploymentReview([]), ca, agent);
    await held.asked;
    const stopped = webhooks.stop();
    held.goOn();
    expect(patchOf(await answering)).toEqual([
      expect.objectContaining({ value: '--extra-target-namespace=flux-system' }),
    ]);
    await stopped;
    agent.destroy();
  });
});

describe('the certificates of a process', () => {
  const signal = new AbortController().signal;
  const now = new Date();
  const at = (days: number) => new Date(now.getTime() + days * 86_400_000);
  const kube = clientsOf('webhooks');
  const webhooks = webhookDefinitions.map(({ webhook }) => webhook);
  const issue = (date: Date) => managedCertificates({ kube, hosts, now: () => date }).current(signal);
  const publishTo = (authorities = '') => publish({ kube, webhooks, seeds: ['local'] }, authorities);
  /** One check by a process, with everything it does. */
  const look = async (date: Date) => {
    const { certificate, authorities } = await issue(date);
    return { certificate, problems: await publishTo(authorities) };
  };

  it('rotate without a failed call, on old and new connections', async () => {
    const served = (await findWebhooks()).map((webhook) => ({
      definition: webhook.definition,
      answer: answererOf(webhook, {
        kube: clientsOf(webhook.definition.name),
        settings,
        metrics: noMetrics,
        log: createLog('error', () => {}),
      }),
    }));
    const server = await startWebhookServer({ port: 0, served });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const bundles: (string | undefined)[] = [];
    const issuers = new Set<string>();
    const keptIssuers = new Set<string>();
    // Only a certificate that is valid now can be served, so the test starts in the past.
    await look(at(-25.6));
    for (const day of [-1, 0, 4.45]) {
      const before = bundles.at(-1);
      const { certificate, problems } = await look(at(day));
      expect(problems).toEqual([]);
      const bundle = await bundleOf(garden);
      // The API server has the new CA while this process still serves the old certificate, and vice versa.
      if (before !== undefined) await call(server.port, '/admission', shootReview({}), bundle);
      server.use(certificate);
      for (const ca of [before ?? bundle, bundle]) {
        const { status, issuer } = await call(server.port, '/admission', shootReview({}), ca);
        expect(status).toBe(200);
        issuers.add(issuer);
      }
      const kept = await call(server.port, '/admission', shootReview({}), bundles[0] ?? bundle, agent);
      expect(kept.status).toBe(200);
      keptIssuers.add(kept.issuer);
      bundles.push(bundle);
    }
    expect(issuers.size).toBe(2);
    expect(keptIssuers.size).toBe(1);
    expect(bundles.map((bundle) => bundle?.match(/BEGIN/g)?.length)).toEqual([2, 2, 1]);
    agent.destroy();
    await server.stop();
  });

  it('are published again to an API server that lost them, and then not written twice', async () => {
    await look(now);
    const published = await bundleOf(seed);
    const [manifest] = webhookObjects(webhookDefinitions, 'seed');
    await seed.client.mergePatch(
      configurations.Mutating,
      configuration,
      { webhooks: manifest?.webhooks },
      { fieldManager: 'deploy' },
    );
    expect(await bundleOf(seed)).toBeUndefined();
    expect(await look(now)).toMatchObject({ problems: [] });
    expect(await bundleOf(seed)).toBe(published);
    for (const { api } of [garden, seed]) api.requests.length = 0;
    await look(now);
    expect([...garden.api.requests, ...seed.api.requests].filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('are published by the next process when one was killed before publishing', async () => {
    seed.api.faults.add({ match: { method: 'PATCH' }, action: 'reset', times: 3 });
    const { certificate, problems } = await look(now);
    expect(problems).toEqual([expect.stringContaining('local')]);
    expect(await bundleOf(seed)).toBeUndefined();
    expect(await look(now)).toEqual({ certificate, problems: [] });
    expect(await bundleOf(seed)).toBe(await bundleOf(garden));
  });

  it('are those of the fastest of several processes, and published without a conflict', async () => {
    const all = await Promise.all([1, 2, 3].map(() => issue(now)));
    expect(new Set(all.map(({ certificate }) => certificate.cert)).size).toBe(1);
    const gates = new Map<string, PromiseWithResolvers<void> & { waiting: number }>();
    // No process writes before all three have read.
    hold = ({ method, path }) => {
      if (method !== 'PATCH' || !path.includes('webhookconfigurations')) return undefined;
      const gate = gates.get(path) ?? { ...Promise.withResolvers<void>(), waiting: 0 };
      gates.set(path, gate);
      gate.waiting += 1;
      if (gate.waiting === 3) gate.resolve();
      return gate.promise;
    };
    expect((await Promise.all(all.map(({ authorities }) => publishTo(authorities)))).flat()).toEqual([]);
    expect([...gates.values()].map(({ waiting }) => waiting)).toEqual([3, 3]);
    expect(await bundleOf(seed)).toBe(await bundleOf(garden));
    hold = () => undefined;
    const renewed = await Promise.all([1, 2, 3].map(() => look(at(6))));
    expect(new Set(renewed.map(({ certificate }) => certificate.cert)).size).toBe(1);
    expect(renewed[0]?.certificate.cert).not.toBe(all[0]?.certificate.cert);
  });

  it.each([
    ['tls.key', 'AAAA'],
    ['ca.crt', 'AAAA'],
    ['ca.key', null],
  ])('are reissued when %s is broken', async (key, value) => {
    const { certificate } = await look(now);
    const patch = { data: { [key]: value } };
    await garden.client.mergePatch(resources.secrets, certificates, patch, { fieldManager: 'person' });
    const renewed = await look(now);
    expect(renewed.certificate.cert).not.toBe(certificate.cert);
    expect(await bundleOf(garden)).toBe(await bundleOf(seed));
    expect(await look(now)).toEqual(renewed);
  });

  it('are reissued when their Secret is deleted during the write', async () => {
    await look(now);
    const held = holdAt(certificates.name, 'PATCH');
    const looking = look(at(6));
    await held.asked;
    await garden.client.delete(resources.secrets, certificates);
    held.goOn();
    const { certificate, problems } = await looking;
    expect(problems).toEqual([]);
    expect(Buffer.from((await storedSecret())?.data['tls.crt'] ?? '', 'base64').toString('utf8')).toBe(
      certificate.cert,
    );
  });

  it('report that the garden has no namespace for them', async () => {
    const empty = await startCluster(gardenCrds());
    const kube = async () => createKubeClient(empty.connection);
    const options = { kube, hosts, now: () => now };
    await expect(managedCertificates(options).current(signal)).rejects.toThrow(
      'The garden has no namespace shoot-flux for the webhook certificates; apply infra/gardener/rbac-garden.yaml.',
    );
    await empty.stop();
  });

  it('are stored where a deployment says, and published in the configuration that it names', async () => {
    const namespace = 'extension-shoot-flux-x7k2p';
    const name = 'of-this-installation';
    seed.api.objects.ensureNamespace(namespace);
    for (const object of webhookObjects(webhookDefinitions, 'seed')) {
      seed.api.objects.create({ ...object, metadata: { name } });
    }
    const secret = { cluster: 'local', namespace, name: 'certificates' };
    const kube = async (cluster: string) => (cluster === 'local' ? seed.client : garden.client);
    const { authorities = '' } = await managedCertificates({ kube, hosts, secret, now: () => now }).current(signal);
    const inSeed = webhooks.filter((webhook) => webhook.in === 'seed');
    expect(await publish({ kube, webhooks: inSeed, seeds: ['local'], configuration: name }, authorities)).toEqual([]);
    const stored = await seed.client.find<KubeObject & { data: Record<string, string> }>(resources.secrets, secret);
    const bundle = await bundleOf(seed, name);
    expect(bundle).toBe(Buffer.from(stored?.data['ca.crt'] ?? '', 'base64').toString('utf8'));
    expect(bundle).toContain('BEGIN CERTIFICATE');
    expect(await storedSecret()).toBeUndefined();
  });

  it('report that an API server has no webhook configuration', async () => {
    await seed.client.delete(configurations.Mutating, configuration);
    const { problems } = await look(now);
    expect(problems).toEqual([
      'local has no MutatingWebhookConfiguration gardener-extension-shoot-flux, so it calls no webhook; apply its manifest.',
    ]);
  });
});

describe('a given certificate', () => {
  it('is served, its authority is published as cert-manager writes it, and it is reloaded when its files change', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'certificate-'));
    const at = (name: string) => join(folder.path, name);
    const files = { certFile: at('tls.crt'), keyFile: at('tls.key'), caFile: at('ca.crt') };
    const place = async ({ cert, key }: { cert: string; key: string }) => {
      await writeFile(files.certFile, cert);
      await writeFile(files.keyFile, key);
    };
    const { certificate: first, authority } = await madeAside();
    await place(first);
    await writeFile(files.caFile, authority);
    const given = certificateFromFiles(files, () => new Date());
    expect((await given.current()).certificate).toEqual(first);
    await using webhooks = await start({ certificate: files });
    await hasCertificate(webhooks);
    expect(await call(webhooks.port, '/admission', shootReview({}), authority)).toMatchObject({ status: 200 });
    await expect.poll(() => bundleOf(seed)).toBe(authority);
    expect(await storedSecret()).toBeUndefined();
    const { certificate: second } = await madeAside();
    await place(second);
    expect((await given.current()).certificate).toEqual(second);
    await place({ cert: first.cert, key: second.key });
    await expect(given.current()).rejects.toThrow(
      `${files.keyFile} is not the key of the first certificate in ${files.certFile}`,
    );
  });

  it('is not served alone when only some functions are asked for', async () => {
    await using webhooks = await start({ functions: ['resource-manager-webhook'] });
    await hasCertificate(webhooks);
    const ca = await eventually('the authority', () => bundleOf(seed));
    expect(await call(webhooks.port, '/admission', shootReview({}), ca)).toMatchObject({ status: 404 });
    expect(await bundleOf(garden)).toBeUndefined();
  });

  /** A certificate of another authority. */
  async function madeAside() {
    const made = await renewed(undefined, hosts, new Date());
    return { certificate: made.serving, authority: made.authorities[0]?.cert ?? '' };
  }
});
