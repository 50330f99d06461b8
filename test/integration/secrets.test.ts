import type { KubeApi } from '@shoot-flux/landscape/kube-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqsSender } from '../../events/sqs/open-sender.ts';
import { createPrometheusMetrics } from '../../infra/process/metrics.ts';
import { startProduct } from '../../infra/process/product.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import {
  type Api,
  base64,
  inControlPlane,
  inProject,
  onlyFlux,
  privateRepository,
  reference,
  SEED,
  type Stage,
  startStage,
} from '../scenarios/stage.ts';
import { deployFunctions, type Emulator, startEmulator } from '../sqs.ts';
import { startTap } from '../tap.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';

/** Marked secrets: any of them outside of a Secret is a leak. */
const markers = {
  password: 'MARKED-password-of-a-reference',
  url: 'MARKED-password-in-a-url',
  malformed: 'MARKED-malformed-identity',
  quoted: 'MARKED-quoted-by-the-api-server',
  providerConfig: 'MARKED-in-an-unknown-field',
  kubeconfig: 'MARKED-token-of-a-broken-kubeconfig',
  token: 'MARKED-token-of-the-product',
};
const fluxSource = inProject('flux-source');
const person = { fieldManager: 'person' };

describe('secrets exist only in Secrets', () => {
  let apis: Awaited<ReturnType<typeof startEmbeddedApis>>;
  let stage: Stage;
  let sqs: Emulator;
  let tap: Awaited<ReturnType<typeof startTap>>;
  /** Bodies of all requests to SQS: messages, attributes, names. */
  const said: string[] = [];
  let metrics = '';
  let stops: (() => Promise<void>)[];

  beforeAll(async () => {
    const tokens = { [markers.token]: { name: 'shoot-flux', groups: ['system:masters'] } };
    apis = await startEmbeddedApis({}, tokens);
    const { garden, seed, shoot } = apis;
    const marked = ({ url, ca, token, kubeconfig }: KubeApi): Api => ({
      ...{ url, ca, token, kubeconfig: () => kubeconfig(markers.token), tokenOf: () => markers.token },
    });
    stage = await startStage(
      { garden: marked(garden), seed: marked(seed), shoot: marked(shoot), stop: async () => {} },
      ownDistribution,
    );
    sqs = await startEmulator();
    tap = await startTap(sqs.endpoint, (part) => said.push(part));
    await exerciseEveryFunction();
  });

  afterAll(async () => {
    for (const stop of stops) await stop();
    await stage[Symbol.asyncDispose]();
    await tap.stop();
    await sqs.stop();
    await apis.stop();
  });

  /** Makes every function succeed and fail, each time with marked secrets as its input. */
  async function exerciseEveryFunction(): Promise<void> {
    // With queues in SQS, because there every message can be read.
    const options = stage.productOptions();
    const queues = { endpoint: tap.url, prefix: 'shoot-flux-' };
    const functionMetrics = createPrometheusMetrics();
    const functions = await deployFunctions({ ...options, ...queues, metrics: functionMetrics });
    const watching = await startProduct({
      ...{ ...options, clusters: { garden: true, seeds: [SEED] } },
      open: (definitions) => openSqsSender({ ...queues, definitions, seeds: [SEED] }),
    });
    stops = [watching.stop, functions.stop];
    const copying = { additionalSecretResources: [{ name: 'creds' }] };
    const parts = { spec: { resources: [reference('creds', 'registry')] }, providerConfig: onlyFlux(copying) };

    // A malformed key is reported, credentials in a URL are rejected.
    await stage.putSecret('garden', fluxSource, { identity: markers.malformed });
    await stage.setFluxConfig(privateRepository);
    await stage.untilEvent('InvalidSecret');
    await stage.garden.delete(resources.secrets, fluxSource);
    await stage.setFluxConfig({ ...privateRepository, repositoryUrl: `https://user:${markers.url}@git.example.com/a` });
    await stage.untilEvent('InvalidConfiguration');
    await stage.reconcileShoot(parts);
    await stage.untilError();

    // The API server quotes what it rejects.
    const message = `Secret is invalid: data: ${markers.quoted}`;
    const match = { method: 'POST', path: /\/secrets$/, userAgent: /^shoot-flux\// };
    for (const api of [apis.garden, apis.seed]) api.faults.add({ match, action: 'status', status: 422, message });

    // Everything succeeds: a key, a reference, access to the shoot.
    await stage.putSecret('seed', inControlPlane('ref-registry'), { password: markers.password });
    await stage.setFluxConfig(privateRepository);
    await stage.deliver(parts);

    // A second key pair beside the first.
    const start = { annotations: { 'gardener.cloud/operation': 'rotate-ssh-keypair-start' } };
    await stage.garden.mergePatch(resources.configMaps, inProject('flux-config'), { metadata: start }, person);
    await stage.untilEvent('KeyRotationPrepared');

    // An unknown field in a providerConfig, and a kubeconfig that cannot be parsed.
    const unknown = onlyFlux({ ...copying, flux: { password: markers.providerConfig } });
    await stage.reconcileShoot({ ...parts, providerConfig: unknown });
    await stage.untilError();
    await stage.putSecret('seed', inControlPlane('gardener'), { kubeconfig: `token: ${markers.kubeconfig}\n: :` });
    await stage.deliver(parts);
    await stage.until(
      'readiness has tried',
      ({ conditions }) => conditions?.some(({ reason }) => reason === 'ShootNotReachable') === true,
    );
    await stage.quiet();
    metrics = (await functionMetrics.expose()).text;
    for (const page of ['metrics', 'readyz'])
      metrics += await (await fetch(`http://127.0.0.1:${watching.port}/${page}`)).text();
  }

  /** Returns the lines of the generated private keys and all markers, also as base64. */
  async function secrets(): Promise<string[]> {
    const generated = await stage.garden.find(resources.secrets, fluxSource);
    const data = (generated?.data ?? {}) as Record<string, string>;
    const lines = ['identity', 'identity.next'].flatMap((name) => {
      const pem = Buffer.from(data[name] ?? '', 'base64').toString('utf8');
      const own = pem.split('\n').filter((line) => line.length > 30 && !line.startsWith('-----'));
      expect(own.length).toBeGreaterThan(0);
      return own;
    });
    const plain = [...lines, ...Object.values(markers)];
    // The base64 text of a secret depends on its offset within the encoded text, modulo 3.
    return [...plain, ...plain.flatMap((text) => [0, 1, 2].map((offset) => base64(text.slice(offset)).slice(0, 24)))];
  }

  const objectsOf = (api: KubeApi, apiVersion: string, kind: string) =>
    api.objects.list(apiVersion, kind) as unknown as KubeObject[];

  it.each<[string, () => unknown]>([
    ['log lines', () => stage.logLines],
    ['messages on queues', () => said.join('')],
    ['metrics and probes', () => metrics],
    ['Events', () => [objectsOf(apis.garden, 'v1', 'Event'), objectsOf(apis.seed, 'v1', 'Event')]],
    [
      'Extensions',
      () =>
        objectsOf(apis.seed, 'extensions.gardener.cloud/v1alpha1', 'Extension').map(({ metadata, status }) => [
          metadata,
          status,
        ]),
    ],
    ['ManagedResources', () => objectsOf(apis.seed, 'resources.gardener.cloud/v1alpha1', 'ManagedResource')],
    [
      'metadata of Secrets',
      () =>
        [apis.garden, apis.seed, apis.shoot].map((api) =>
          objectsOf(api, 'v1', 'Secret').map(({ metadata }) => metadata),
        ),
    ],
    ['ConfigMaps in the shoot', () => objectsOf(apis.shoot, 'v1', 'ConfigMap')],
  ])('do not appear in %s', async (_, output) => {
    const text = JSON.stringify(output());
    expect(text.length).toBeGreaterThan(50);
    const found = (await secrets()).filter((secret) => text.includes(secret));
    expect(found).toEqual([]);
  });

  it('reach the Secrets that they belong to', async () => {
    const copy = await stage.inShoot(resources.secrets, 'registry');
    expect(copy?.data).toEqual({ password: base64(markers.password) });
    expect(stage.logLines.length).toBeGreaterThan(20);
    expect(said.length).toBeGreaterThan(20);
  });
});
