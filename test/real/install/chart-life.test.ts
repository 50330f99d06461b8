import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { gitRepositories, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { startNodes } from '@shoot-flux/landscape/nodes';
import { afterEach, describe, expect, it } from 'vitest';
import { NAMESPACE as CONTROL_PLANE, clusterFactory } from '../../../shared/gardener/testing.ts';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';
import { grants, rightsOf } from '../../scenarios/needed-rights.ts';
import { creating, eventually, PROJECT, SEED, type Stage } from '../../scenarios/stage.ts';
import { freePorts } from '../cluster/ports.ts';
import { requestJson } from '../cluster/request.ts';
import { onRealApis } from '../on-real-apis.ts';
import { needsOf, ownEntries, wrongRights } from '../rights.ts';
import { type ChartLandscape, podUsers, startChartLandscape } from './chart-landscape.ts';
import { type Host, INSTALLATION, seedHost, selfHosted } from './gardenlet.ts';
import { find } from './helm.ts';
import { liveOneLife } from './life.ts';
import { applyObjects, namespaceOf, serviceAccountToken } from './objects.ts';
import { besidePod, type Pod } from './pod.ts';
import { callWebhook, emptySecret, secretOf, webhookConfiguration } from './webhook-calls.ts';

const config = { config: { logLevel: 'debug' } };
/** A Shoot that is called as the garden is in the product. */
const root = selfHosted('garden', 'garden');
/** As a chart that asks for no account renders it: gardenlet injects its own. */
const withoutAccount = (host: Host): Host => {
  const { garden: _, ...gardener } = host.values.gardener as Record<string, unknown>;
  return { ...host, values: { gardener } };
};

let landscape: ChartLandscape;
const start = async () => {
  landscape = await startChartLandscape();
  return landscape;
};

/** On a garden with SeedRestriction and ShootRestriction. */
onRealApis(
  'the chart of one Deployment per seed',
  ({ startStage, fluxDistribution }) => {
    const distribution = ['--flux-distribution', fluxDistribution];

    afterEach(() => landscape.forget());

    const untilReady = async (pod: Pod, line: string) => {
      await eventually('its first line', pod.output, (said) => said.startsWith(line));
      await eventually('it is ready', pod.readyz, (code) => code === 200);
    };
    /** Does something beside the Pod, which serves the seed of the stage's Shoot, with nodes in the shoot. */
    const besideNodes = async (act: (stage: Stage, output: () => Promise<string>) => Promise<void>) => {
      await using stage = await startStage();
      const { url, ca, token } = landscape.shoot;
      const nodes = await startNodes({ server: url, ca, token }, { programs: {} });
      const pod = await landscape.start('shoot-flux', [...distribution, '--seed', `${SEED}=in-cluster`]);
      await besidePod(pod, () => act(stage, pod.output)).finally(() => nodes.stop());
    };

    it('carries a Shoot through its life with nothing but the rendered rights, killed at random', async () => {
      await landscape.install({ config: { shootHealth: true, logLevel: 'debug' } });
      await using stage = await startStage();
      let pod = await landscape.start('shoot-flux', distribution);
      const disturb = async () => {
        await sleep(randomInt(1500));
        await pod.stop();
        pod = await landscape.start('shoot-flux', distribution);
      };
      const steps = await liveOneLife(stage, disturb).catch((error) => besidePod(pod, () => Promise.reject(error)));
      expect(steps).toContain('remove');
      await besidePod(pod, () => eventually('it is ready', pod.readyz, (code) => code === 200));
    });

    it('creates key and status, and sends an edit in waves, with the account that the chart asks for', async () => {
      await landscape.install(config);
      await besideNodes(rollOut);
    });

    it('serves the webhooks with what it renders, and needs each of its rights in the seed', async () => {
      const objects = await landscape.install({});
      const { garden, seed } = landscape.servers;
      const { name } = find(objects, 'MutatingWebhookConfiguration').metadata;
      const certificates = 'shoot-flux-webhooks-certificates';
      await applyObjects(garden, [
        namespaceOf(PROJECT),
        {
          ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: PROJECT, name: 'flux-config' } },
          data: { namespace: 'flux-x' },
        },
      ]);
      const { spec, ...cluster } = clusterFactory({ spec: { extensions: [{ type: 'shoot-flux' }] } });
      await applyObjects(seed, [
        { ...cluster, spec: { ...spec, cloudProfile: {}, seed: {} } } as unknown as KubeObject,
      ]);
      const [port = 0] = await freePorts(1);
      const besideWebhooks = async (act: () => Promise<void>) => {
        const pod = await landscape.start('shoot-flux-webhooks', ['--webhook-port', `${port}`]);
        await besidePod(pod, async () => {
          await untilReady(pod, 'shoot-flux serves /resource-manager on port ');
          await act();
        });
      };
      await besideWebhooks(async () => {
        const { webhooks } = await webhookConfiguration(seed, 'mutating', name);
        const { data } = await secretOf(seed, INSTALLATION, certificates);
        expect(webhooks.map(({ clientConfig }) => clientConfig.caBundle)).toEqual([data['ca.crt']]);
        const service = { namespace: INSTALLATION, path: '/resource-manager' };
        expect(webhooks[0]?.clientConfig.service).toMatchObject(service);
      });
      // Certificates that cannot be read are issued again.
      await emptySecret(seed, INSTALLATION, certificates);
      await besideWebhooks(async () => {
        const { data } = await secretOf(seed, INSTALLATION, certificates);
        const image = 'gardener/resource-manager:v1.150.0';
        const containers = [{ name: 'gardener-resource-manager', image, args: ['-v'] }];
        const object = {
          ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'gardener-resource-manager' } },
          spec: { template: { spec: { containers } } },
        };
        const patch = await callWebhook({
          ...{ port, host: `shoot-flux-webhooks.${INSTALLATION}.svc`, caBundle: data['ca.crt'] ?? '' },
          ...{ path: '/resource-manager', request: { operation: 'CREATE', namespace: CONTROL_PLANE, object } },
        });
        expect(JSON.stringify(patch)).toContain('--extra-target-namespace=flux-x');
      });
      const user = `system:serviceaccount:${INSTALLATION}:shoot-flux-webhooks`;
      expect(await wrongRights(seed, objects, user)).toEqual([]);
    });

    it.each(['garden', 'seed'] as const)(
      'was forbidden nothing in the %s, and used no other identities',
      async (place) => {
        const entries = await ownEntries(landscape.servers[place]);
        const others = entries.filter(({ user }) => !podUsers[place].includes(user));
        expect(others.map(({ user, verb, requestUri, code }) => `${user} ${verb} ${requestUri} ${code}`)).toEqual([]);
        expect([...new Set(entries.map(({ user }) => user))].sort()).toEqual(podUsers[place]);
        const forbidden = entries.filter(({ code }) => code === 403);
        expect(forbidden.map(({ verb, requestUri }) => `${verb} ${requestUri}`)).toEqual([]);
      },
    );

    it.each(['garden', 'seed'] as const)(
      'had each right in the %s from the role that the server names',
      async (place) => {
        const rights = rightsOf(landscape.rights[place]);
        const entries = (await ownEntries(landscape.servers[place])).filter(({ resource }) => resource !== '');
        expect(entries.length).toBeGreaterThan(10);
        const wrong = entries.flatMap((entry) => {
          const [, role] = /(?:ClusterRole|Role) "([^"]+)" to ServiceAccount/.exec(entry.reason) ?? [];
          const [need] = needsOf(entry);
          const isOurs = rights.some((right) => right.role === role && need !== undefined && grants(right, need));
          return isOurs ? [] : [`${entry.verb} ${entry.requestUri}: ${entry.reason}`];
        });
        expect(wrong.slice(0, 10)).toEqual([]);
      },
    );

    describe('with other accounts in the garden', () => {
      it('says what is refused to the account of gardenlet, and goes on once a person has created it', async () => {
        await landscape.install(config, withoutAccount(seedHost(SEED)));
        await besideNodes((stage, output) => createByHand(stage, 'seed-restriction.gardener.cloud', output));
      });

      it('becomes ready in a self-hosted Shoot', async () => {
        await landscape.install({ config: { shootHealth: true, logLevel: 'debug' } }, root);
        for (const [name, flags, line] of [
          ['shoot-flux', distribution, 'shoot-flux serves shoot--garden--garden with Flux'],
          ['shoot-flux-webhooks', ['--webhook-port', '0'], 'shoot-flux serves /resource-manager on port'],
        ] as const) {
          const pod = await landscape.start(name, [...flags]);
          await besidePod(pod, () => untilReady(pod, line));
        }
      });

      it('opens no other project to those who administer a self-hosted Shoot', async () => {
        await landscape.install(config, root);
        const { garden } = landscape.servers;
        const name = 'extension-shoot--garden--shoot-flux';
        const adminToken = await serviceAccountToken(garden, root.namespace, name);
        const read = (namespace: string) =>
          requestJson({ ...garden, adminToken }, 'GET', `/api/v1/namespaces/${namespace}/secrets/flux-source`).then(
            String,
            (error: Error) => error.message,
          );
        await eventually(
          'it has the rights of the project',
          () => read('garden'),
          (text) => text.includes('404'),
        );
        expect(await read(PROJECT)).toContain('403');
        const labels = { 'controllerregistration.core.gardener.cloud/name': 'shoot-flux' };
        const account = (namespace: string) => ({
          ...{ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name: 'forged', labels } },
        });
        await expect(applyObjects(garden, [account('garden')])).rejects.toThrow('only accounts in namespaces of seeds');
        await applyObjects(garden, [namespaceOf(`seed-${SEED}`), account(`seed-${SEED}`)]);
      });

      it.each([
        ['shoot-flux', seedHost(SEED)],
        ['extension-shoot-flux-x7k2p', withoutAccount(seedHost(SEED))],
        ['extension-shoot--garden--shoot-flux', root],
      ])('may create no other Secrets than flux-source and flux-push as %s', async (name, host) => {
        await landscape.install(config, host);
        const { garden } = landscape.servers;
        const { namespace } = host;
        const adminToken = await serviceAccountToken(garden, namespace, name);
        const create = (secret: string, type: string) =>
          requestJson({ ...garden, adminToken }, 'POST', `/api/v1/namespaces/${namespace}/secrets?dryRun=All`, {
            ...{ apiVersion: 'v1', kind: 'Secret', type },
            metadata: { namespace, name: secret },
          }).then(String, (error: Error) => error.message);
        const refused = (text: string) => text.includes('shoot-flux may create only Secrets flux-source and flux-push');
        await eventually('the policy is enforced', () => create('other', 'Opaque'), refused);
        expect(await create('flux-source', 'example.com/other')).toContain('only Secrets of type Opaque');
      });
    });
  },
  start,
);

const fieldManager = 'person';
const SHOOT = 'bar';
const statusName = { namespace: PROJECT, name: 'flux-status' };
const sourceName = { namespace: PROJECT, name: 'flux-source' };
const fluxConfig = (repositoryBranch: string, more: Record<string, string> = {}) => ({
  repositoryUrl: 'ssh://git@github.com/org/fleet',
  repositoryBranch,
  repositoryType: 'private',
  syncMode: 'Reconcile',
  ...more,
});

/** Creates the Shoot, sends an edit in waves, and expects both in `flux-status`. */
async function rollOut(stage: Stage): Promise<void> {
  const rollout = '{ maxInProgress: 1, maxFailed: 0 }';
  await stage.setFluxConfig(fluxConfig('main', { rollout }));
  await stage.reconcileShoot({ status: { lastOperation: creating } });
  await stage.untilReady();
  await untilShown(stage);
  await stage.setFluxConfig(fluxConfig('other', { rollout }));
  await eventually(
    'the edit is in the shoot',
    () => stage.shoot.find(gitRepositories, { namespace: 'flux-system', name: 'main-gitrepo' }),
    (live) => JSON.stringify(live?.spec).includes('"branch":"other"'),
  );
  await untilShown(stage);
  await untilStatus(stage, 'the rollout is over', /^Revision [0-9a-f]{12} has ended: 1 done/, 'Rollout');
}

/** Marks the objects as Flux would, and waits for the line of the Shoot. */
async function untilShown(stage: Stage): Promise<void> {
  await stage.markReady([gitRepositories, 'main-gitrepo'], [kustomizations, 'main-ks']);
  await untilStatus(stage, 'the Shoot is Ready in flux-status', /^Ready \(v\d+\.\d+\.\d+\)$/, SHOOT);
}

function untilStatus(stage: Stage, what: string, pattern: RegExp, key: string): Promise<unknown> {
  return eventually(
    what,
    async () => (await stage.garden.find<ConfigMap>(resources.configMaps, statusName))?.data ?? {},
    (data) => pattern.test(data[key] ?? ''),
  );
}

type ConfigMap = KubeObject & { data?: Record<string, string> };

/**
 * Expects that condition, Events and log name the webhook that refuses `flux-source` and `flux-status`, and the remedy; then
 * follows the remedy, and expects that the Shoot becomes Ready.
 */
async function createByHand(stage: Stage, webhook: string, output: () => Promise<string>): Promise<void> {
  const secretRemedy = `kubectl create secret generic flux-source --namespace ${PROJECT}`;
  const mapRemedy = `kubectl create configmap flux-status --namespace ${PROJECT}`;
  await stage.setFluxConfig(fluxConfig('main'));
  await stage.reconcileShoot({ status: { lastOperation: creating } });
  const names = (text: string, ...parts: string[]) => [webhook, ...parts].every((part) => text.includes(part));
  await eventually(
    'the Shoot names webhook and remedy',
    stage.extension,
    ({ status }) => names(status?.lastError?.description ?? '', 'flux-source', secretRemedy),
    ({ status }) => status,
  );
  const messages = async () => (await stage.events()).map(({ message }) => String(message));
  await eventually('an Event names both', messages, (all) => all.some((text) => names(text, secretRemedy)));
  await stage.garden.create(resources.secrets, objectOf('Secret', sourceName), { fieldManager });
  await stage.untilReady();
  await stage.markReady([gitRepositories, 'main-gitrepo'], [kustomizations, 'main-ks']);
  await eventually('an Event names flux-status', messages, (all) => all.some((text) => names(text, mapRemedy)));
  const labels = { 'app.kubernetes.io/managed-by': 'gardener-extension-shoot-flux' };
  await stage.garden.create(resources.configMaps, objectOf('ConfigMap', { ...statusName, labels }), { fieldManager });
  // Its next change brings the line.
  await stage.reconcileShoot();
  await untilShown(stage);
  expect(await output()).toContain(webhook);
}

const objectOf = (kind: string, metadata: KubeObject['metadata']): KubeObject => ({ apiVersion: 'v1', kind, metadata });
