import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startNodes } from '@shoot-flux/landscape/nodes';
import { afterEach, describe, expect, it } from 'vitest';
import { NAMESPACE as CONTROL_PLANE, clusterFactory } from '../../../shared/gardener/testing.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { grants, rightsOf } from '../../scenarios/needed-rights.ts';
import { eventually, PROJECT, SEED, type Stage } from '../../scenarios/stage.ts';
import { freePorts } from '../cluster/ports.ts';
import { requestJson } from '../cluster/request.ts';
import { onRealApis } from '../on-real-apis.ts';
import { needsOf, wrongRights } from '../rights.ts';
import { type ChartLandscape, podUsers, startChartLandscape } from './chart-landscape.ts';
import { createByHand, rollOut } from './garden-writes.ts';
import { type Host, seedHost, selfHosted } from './gardenlet.ts';
import { INSTALLATION } from './gardenlet-values.ts';
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
      const steps = await liveOneLife(stage, { disturb }).catch((error) => besidePod(pod, () => Promise.reject(error)));
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

    const ourEntries = async (place: 'garden' | 'seed') =>
      (await landscape.servers[place].auditEntries()).filter(({ userAgent }) => userAgent.startsWith('shoot-flux/'));

    it.each(['garden', 'seed'] as const)(
      'was refused nothing in the %s, and used no other identities',
      async (place) => {
        const entries = await ourEntries(place);
        expect([...new Set(entries.map(({ user }) => user))].sort()).toEqual(podUsers[place]);
        const refused = entries.filter(({ code }) => code === 401 || code === 403);
        expect(refused.map(({ verb, requestUri }) => `${verb} ${requestUri}`)).toEqual([]);
      },
    );

    it.each(['garden', 'seed'] as const)(
      'had each right in the %s from the role that the server names',
      async (place) => {
        const rights = rightsOf(landscape.rights[place]);
        const entries = (await ourEntries(place)).filter(({ resource }) => resource !== '');
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
      it.each([
        ['seed', 'seed-restriction.gardener.cloud', withoutAccount(seedHost(SEED))],
        ['self-hosted Shoot', 'shoot-restriction.gardener.cloud', withoutAccount(root)],
      ])(
        'says what is refused to the account of gardenlet in a %s, and goes on once a person has created it',
        async (_, webhook, host) => {
          await landscape.install(config, host);
          await besideNodes((stage, output) => createByHand(stage, webhook, output));
        },
      );

      it('becomes ready in a self-hosted Shoot', async () => {
        await landscape.install({ config: { shootHealth: true, logLevel: 'debug' } }, root);
        for (const [name, flags, line] of [
          ['shoot-flux', distribution, 'shoot-flux serves shoot--garden with Flux'],
          ['shoot-flux-webhooks', ['--webhook-port', '0'], 'shoot-flux serves /resource-manager on port'],
        ] as const) {
          const pod = await landscape.start(name, [...flags]);
          await besidePod(pod, () => untilReady(pod, line));
        }
      });

      it.each([
        ['shoot-flux', seedHost(SEED)],
        ['extension-shoot-flux-x7k2p', withoutAccount(seedHost(SEED))],
        ['extension-shoot--garden--shoot-flux-x7k2p', root],
      ])('may create no other Secret than flux-source as %s', async (name, host) => {
        await landscape.install(config, host);
        const { garden } = landscape.servers;
        const adminToken = await serviceAccountToken(garden, host.namespace, name);
        const create = (secret: string, type: string) =>
          requestJson({ ...garden, adminToken }, 'POST', '/api/v1/namespaces/default/secrets?dryRun=All', {
            ...{ apiVersion: 'v1', kind: 'Secret', type },
            metadata: { namespace: 'default', name: secret },
          }).then(String, (error: Error) => error.message);
        const refused = (text: string) => text.includes('shoot-flux may create only Secret flux-source');
        await eventually('the policy is enforced', () => create('other', 'Opaque'), refused);
        expect(await create('flux-source', 'example.com/other')).toContain('only Secrets of type Opaque');
      });
    });
  },
  start,
);
