import { startNodes } from '@shoot-flux/landscape/nodes';
import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { testDistribution } from '../../made-distribution.ts';
import { eventually, SEED, type Stage, startStage } from '../../scenarios/stage.ts';
import { seedCrds } from '../cluster/crds.ts';
import { requestJson } from '../cluster/request.ts';
import { type ChartLandscape, podUsers, startChartLandscape } from './chart-landscape.ts';
import { createByHand, rollOut } from './garden-writes.ts';
import { type Host, seedHost, selfHosted } from './gardenlet.ts';
import { serviceAccountToken } from './objects.ts';

const fluxDistribution = await testDistribution();
const isComplete = fluxDistribution !== undefined && seedCrds() !== undefined;
const distribution = ['--flux-distribution', fluxDistribution ?? ''];
const config = { config: { logLevel: 'debug' } };
/** A Shoot that is called as the garden is in the product. */
const root = selfHosted('garden', 'garden');
/** As a chart that asks for no account renders it: gardenlet injects its own. */
const withoutAccount = (host: Host): Host => {
  const { garden: _, ...gardener } = host.values.gardener as Record<string, unknown>;
  return { ...host, values: { gardener } };
};

test.skipIf(isComplete)(testDataMissing, () => {});

/** On a garden with SeedRestriction and ShootRestriction. */
describe.skipIf(!isComplete)('an installation in the garden', () => {
  let landscape: ChartLandscape;
  beforeEach(async () => {
    landscape = await startChartLandscape();
  });
  afterEach(() => landscape?.stop());

  /** Does something beside the Pod, which serves the seed of the stage's Shoot; an error has its output. */
  async function besidePod(act: (stage: Stage, output: () => Promise<string>) => Promise<void>): Promise<void> {
    await using stage = await startStage(landscape.apis, '');
    const { url, ca, token } = landscape.apis.shoot;
    const nodes = await startNodes({ server: url, ca, token }, { programs: {} });
    const pod = await landscape.start('shoot-flux', [...distribution, '--seed', `${SEED}=in-cluster`]);
    try {
      await act(stage, pod.output);
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : error}\n${await pod.output()}`, { cause: error });
    } finally {
      await pod.stop();
      await nodes.stop();
    }
  }

  it('creates key and status, and sends an edit in waves, with the account that the chart asks for', async () => {
    await landscape.install(config);
    await besidePod(rollOut);
    const entries = (await landscape.apis.servers.garden.auditEntries()).filter(({ userAgent }) =>
      userAgent.startsWith('shoot-flux/'),
    );
    expect([...new Set(entries.map(({ user }) => user))]).toEqual(podUsers.garden);
    expect(entries.filter(({ code }) => code === 401 || code === 403)).toEqual([]);
  });

  it.each([
    ['seed', 'seed-restriction.gardener.cloud', withoutAccount(seedHost(SEED))],
    ['self-hosted Shoot', 'shoot-restriction.gardener.cloud', withoutAccount(root)],
  ])(
    'says what is refused to the account of gardenlet in a %s, and goes on once a person has created it',
    async (_, webhook, host) => {
      await landscape.install(config, host);
      await besidePod((stage, output) => createByHand(stage, webhook, output));
    },
  );

  it('becomes ready in a self-hosted Shoot', async () => {
    await landscape.install({ config: { shootHealth: true, logLevel: 'debug' } }, root);
    for (const [name, flags, line] of [
      ['shoot-flux', distribution, 'shoot-flux serves shoot--garden with Flux'],
      ['shoot-flux-webhooks', ['--webhook-port', '0'], 'shoot-flux serves /resource-manager on port'],
    ] as const) {
      const pod = await landscape.start(name, [...flags]);
      try {
        await eventually('its first line', pod.output, (said) => said.startsWith(line));
        await eventually('it is ready', pod.readyz, (code) => code === 200);
      } finally {
        await pod.stop();
      }
    }
  });

  it.each([
    ['shoot-flux', seedHost(SEED)],
    ['extension-shoot-flux-x7k2p', withoutAccount(seedHost(SEED))],
    ['extension-shoot--garden--shoot-flux-x7k2p', root],
  ])('may create no other Secret than flux-source as %s', async (name, host) => {
    await landscape.install(config, host);
    const { garden } = landscape.apis.servers;
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
