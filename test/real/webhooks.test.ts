import { afterAll, beforeAll, expect, it } from 'vitest';
import { findWebhookDefinitions, findWebhooks } from '../../infra/functions.ts';
import { webhookObjects } from '../../infra/gardener/webhooks.ts';
import { answererOf } from '../../infra/webhooks/answer.ts';
import { caBundle, renewed } from '../../infra/webhooks/certificates.ts';
import { managedCertificates, readCertificates } from '../../infra/webhooks/managed-certificates.ts';
import { CONFIGURATION } from '../../infra/webhooks/names.ts';
import { configurations, publish } from '../../infra/webhooks/publish.ts';
import { startWebhookServer } from '../../infra/webhooks/server.ts';
import { clusterFactory, NAMESPACE } from '../../shared/gardener/testing.ts';
import type { HttpKubeClient } from '../../shared/kube/http-client.ts';
import { apiVersionOf, type KubeObject, resources } from '../../shared/kube/resource.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { noMetrics } from '../../shared/runtime/metrics.ts';
import { patientClient } from '../patient-client.ts';
import { shippedRbac, tokenOf, webhookIdentities } from '../scenarios/identities.ts';
import { eventually, PROJECT } from '../scenarios/stage.ts';
import { requestJson } from './cluster/request.ts';
import { applyObjects, namespaceOf } from './install/objects.ts';
import { onRealApis } from './on-real-apis.ts';
import { dispensableRights, refused } from './rights.ts';

const OTHER = 'shoot--foo--other';
const options = { fieldManager: 'person' };

onRealApis('real API servers call the webhooks', ({ apis }) => {
  let server: Awaited<ReturnType<typeof startWebhookServer>>;
  let garden: HttpKubeClient;
  let seed: HttpKubeClient;
  const logLines: string[] = [];

  beforeAll(async () => {
    const log = createLog('debug', (line) => logLines.push(line));
    const settings = {
      landscape: 'canary',
      seeds: ['local'],
      fluxDistribution: '',
      shootHealth: false,
      shootAccess: 'external' as const,
    };
    const served = (await findWebhooks()).map((webhook) => ({
      definition: webhook.definition,
      answer: answererOf(webhook, {
        kube: async (cluster: string) => clientOf(cluster, webhook.definition.name),
        settings,
        log,
        metrics: noMetrics,
      }),
    }));
    server = await startWebhookServer({ port: 0, served });
    garden = patientClient(connection('garden'));
    seed = patientClient(connection('seed'));
    await Promise.all([placeConfiguration('garden'), placeConfiguration('seed'), placeObjects()]);
    // Only a certificate that is valid now can be served, so the test starts in the past.
    await renew(-25.6);
    await renew(-1);
    await eventually(
      'the first call',
      async () => (await refusalOf({ typo: 1 })).includes('is not a known key'),
      Boolean,
    );
    await eventually('the first patch', async () => (await argumentsAfter([])).length === 1, Boolean);
  });

  afterAll(async () => {
    garden?.close();
    seed?.close();
    await server?.stop();
  });

  const connection = (place: 'garden' | 'seed', token?: string) => {
    const { url, ca, adminToken } = apis().servers[place];
    return { server: url, ca, token: token ?? adminToken };
  };
  const clientOf = (cluster: string, identity: string) =>
    patientClient(connection(cluster === 'garden' ? 'garden' : 'seed', tokenOf(identity)));

  /** The manifests that an operator applies, with the address of this process. */
  async function placeConfiguration(place: 'garden' | 'seed'): Promise<void> {
    const url = (path: string) => `https://127.0.0.1:${server.port}${path}`;
    const definitions = await findWebhookDefinitions();
    const objects = webhookObjects(definitions, place, ({ path }) => ({ url: url(path) }));
    await applyObjects(apis().servers[place], objects);
  }

  async function bundleIn(place: 'garden' | 'seed'): Promise<string | undefined> {
    const resource = configurations[place === 'garden' ? 'Validating' : 'Mutating'];
    const live = await (place === 'garden' ? garden : seed).find<Configuration>(resource, { name: CONFIGURATION });
    return live?.webhooks[0]?.clientConfig.caBundle;
  }

  async function placeObjects(): Promise<void> {
    const metadata = { namespace: PROJECT, name: 'flux-config' };
    const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { namespace: 'flux-x' } };
    await applyObjects(apis().servers.garden, [namespaceOf(PROJECT), config]);
    const { spec, ...cluster } = clusterFactory({ spec: { extensions: [{ type: 'shoot-flux' }] } });
    const complete = { ...cluster, spec: { ...spec, cloudProfile: {}, seed: {} } } as unknown as KubeObject;
    const labelledNamespace = namespaceOf(NAMESPACE, { 'extensions.gardener.cloud/shoot-flux': 'true' });
    await applyObjects(apis().servers.seed, [labelledNamespace, namespaceOf(OTHER), complete]);
  }

  /** The certificates as of this many days from now. */
  async function renew(days: number): Promise<string> {
    const kube = async (cluster: string) => clientOf(cluster, 'webhooks');
    const now = () => new Date(Date.now() + days * 86_400_000);
    const source = managedCertificates({ kube, hosts: ['127.0.0.1'], now });
    const { certificate, authorities = '' } = await source.current(new AbortController().signal);
    const webhooks = (await findWebhookDefinitions()).map(({ webhook }) => webhook);
    expect(await publish({ kube, webhooks, seeds: ['local'] }, authorities)).toEqual([]);
    server.use(certificate);
    const stored = await readCertificates(garden);
    return stored?.certificates === undefined ? '' : caBundle(stored.certificates);
  }

  const shoot = (providerConfig: unknown, labels: Record<string, string> = labelled) => ({
    apiVersion: apiVersionOf(resources.shoots),
    kind: 'Shoot',
    metadata: { name: 'bar', namespace: PROJECT, labels },
    spec: { extensions: [{ type: 'shoot-flux', providerConfig }] },
  });

  const name = { namespace: PROJECT, name: 'bar' };
  const change = (patch: object) => garden.mergePatch(resources.shoots, name, patch, options);
  const withConfig = (providerConfig: object) => ({ extensions: [{ type: 'shoot-flux', providerConfig }] });

  /** Returns the refusal of such a Shoot, or an empty string when it would be stored. */
  async function refusalOf(providerConfig: unknown, labels?: Record<string, string>): Promise<string> {
    const path = `/apis/core.gardener.cloud/v1beta1/namespaces/${PROJECT}/shoots?dryRun=All`;
    try {
      await requestJson(apis().servers.garden, 'POST', path, shoot(providerConfig, labels));
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** Returns the arguments with which a Deployment would be stored. */
  async function argumentsAfter(args: string[], parts: DeploymentParts = {}): Promise<string[]> {
    const { namespace = NAMESPACE } = parts;
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments?dryRun=All`;
    const stored = await requestJson(apis().servers.seed, 'POST', path, deployment(args, parts));
    return (stored as Deployment).spec.template.spec.containers[0]?.args ?? [];
  }

  it('refuse a Shoot with the sentences of its validation', async () => {
    const refusal = await refusalOf({ typo: 1, syncMode: 'x' });
    const webhook = 'admission.shoot-flux.extensions.gardener.cloud';
    expect(refusal).toContain(`422 admission webhook "${webhook}" denied the request: providerConfig:`);
    expect(refusal).toContain('providerConfig: typo is not a known key');
    expect(refusal).toContain('"x" is not a valid value');
    expect(await refusalOf({ syncMode: 'Once' })).toBe('');
  });

  it('are not called for a Shoot without the extension, and are called when its label is added or removed', async () => {
    expect(await refusalOf({ typo: 1 }, {})).toBe('');
    const wrong = shoot({ typo: 1 }, {});
    await garden.create(resources.shoots, wrong, options);
    // A config that was stored earlier is not refused.
    await change({ metadata: { labels: labelled } });
    await change({ metadata: { annotations: { a: 'b' } } });
    await expect(change({ spec: withConfig({ typo: 2 }) })).rejects.toThrow('is not a known key');
    // The old object still has the label.
    const withoutLabel = { metadata: { labels: null }, spec: withConfig({ typo: 3 }) };
    await expect(change(withoutLabel)).rejects.toThrow('is not a known key');
    await change({ metadata: { finalizers: ['example.com/wait'] } });
    await garden.delete(resources.shoots, name);
    await change({ metadata: { finalizers: null }, spec: withConfig({ typo: 4 }) });
    expect(await garden.find(resources.shoots, name)).toBeUndefined();
  });

  it('add the namespaces only to the resource-manager of a Shoot with the extension', async () => {
    const added = ['--extra-target-namespace=flux-x'];
    expect(await argumentsAfter(['-v'])).toEqual(['-v', ...added]);
    expect(await argumentsAfter(['-v'], { namespace: OTHER })).toEqual(['-v']);
    expect(await argumentsAfter(['-v'], { name: 'kube-apiserver' })).toEqual(['-v']);
    expect(await argumentsAfter(['-v'], { image: 'gardener/resource-manager:v1.146.0' })).toEqual(['-v']);
    expect(logLines.filter((line) => line.includes('older than v1.147'))).toHaveLength(1);
  });

  it('stay trusted when the configurations are applied again', async () => {
    const bundles = () => Promise.all((['garden', 'seed'] as const).map(bundleIn));
    const before = await bundles();
    expect(before).toEqual([expect.stringMatching(/./), before[0]]);
    await Promise.all([placeConfiguration('garden'), placeConfiguration('seed')]);
    expect(await bundles()).toEqual(before);
  });

  it('answer every call while the certificates rotate', async () => {
    const answers: string[] = [];
    let isOver = false;
    const calling = (async () => {
      while (!isOver) answers.push(await refusalOf({ typo: 1 }));
    })();
    const more = async (count: number) => {
      const until = answers.length + count;
      await eventually('more calls', async () => answers.length >= until, Boolean);
    };
    const bundles: string[] = [];
    for (const day of [-0.9, 0, 4.45]) {
      bundles.push(await renew(day));
      await more(20);
    }
    isOver = true;
    await calling;
    expect(bundles.map((bundle) => bundle.match(/BEGIN/g)?.length)).toEqual([2, 2, 1]);
    expect(answers.filter((answer) => !answer.includes('is not a known key'))).toEqual([]);
  });

  it('are not needed to delete a Shoot', async () => {
    await garden.create(resources.shoots, shoot({ syncMode: 'Once' }), options);
    await change({ metadata: { finalizers: ['example.com/wait'] } });
    // No process serves with this authority.
    const resource = configurations.Validating;
    const live = await garden.find<Configuration>(resource, { name: CONFIGURATION });
    const caBundle = Buffer.from((await makeAside()).authorities[0]?.cert ?? '').toString('base64');
    const webhooks = live?.webhooks.map((webhook) => ({
      ...webhook,
      clientConfig: { ...webhook.clientConfig, caBundle },
    }));
    await garden.mergePatch(resource, { name: CONFIGURATION }, { webhooks }, options);
    await eventually(
      'a call that fails',
      async () => (await refusalOf({ syncMode: 'Once' })).includes('failed calling webhook'),
      Boolean,
    );
    await garden.delete(resources.shoots, name);
    await change({ metadata: { finalizers: null } });
    expect(await garden.find(resources.shoots, name)).toBeUndefined();
  });

  it('have exactly the rights that they need', async () => {
    const webhooks = await webhookIdentities();
    expect(await refused(apis().servers)).toEqual([]);
    for (const place of ['garden', 'seed'] as const) {
      const rights = (await shippedRbac(place)).filter(({ metadata: { name } }) =>
        webhooks.some((identity) => name.endsWith(`:${identity}`)),
      );
      expect(await dispensableRights(apis().servers[place], rights)).toEqual([]);
    }
  });
});

function makeAside() {
  const now = new Date();
  return renewed(undefined, ['127.0.0.1'], now);
}

const labelled = { 'extensions.extensions.gardener.cloud/shoot-flux': 'true' };

interface DeploymentParts {
  namespace?: string;
  name?: string;
  image?: string;
}

interface Configuration extends KubeObject {
  webhooks: { clientConfig: { caBundle?: string } }[];
}

interface Deployment {
  spec: { template: { spec: { containers: { args?: string[] }[] } } };
}

function deployment(
  args: string[],
  { namespace = NAMESPACE, name = 'gardener-resource-manager', image }: DeploymentParts = {},
) {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [container(args, image)] } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: { selector: { matchLabels: labels }, template },
  };
}

const container = (args: string[], image = 'gardener/resource-manager:v1.150.0') => ({
  name: 'gardener-resource-manager',
  image,
  args,
});
