import { type ResourceManager, startResourceManager } from '@shoot-flux/landscape/resource-manager';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type KubeObject, type Resource, resource, resources } from '../../shared/kube/resource.ts';
import { textAt } from '../../shared/shapes.ts';
import { stageSuite } from '../scenarios/around-each-test.ts';
import { type Apis, CONTROL_PLANE, eventually, inControlPlane, publicRepository } from '../scenarios/stage.ts';
import { secretWith } from '../shoot-secrets.ts';
import { crdOf, ownDistribution, startApisWithShippedRights } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

const fieldManager = 'gardenlet';
const group = 'monitoring.coreos.com';
const scrapeConfigs = resource(group, 'v1alpha1', 'scrapeconfigs', 'ScrapeConfig');
const rules = resource(group, 'v1', 'prometheusrules', 'PrometheusRule');
const kinds = [scrapeConfigs, rules, resources.configMaps];

let apis: Apis;
const suite = stageSuite((stage) => {
  let seedManager: ResourceManager;
  const connection = () => ({ server: apis.seed.url, ca: apis.seed.ca, token: apis.seed.token });
  const authority = (name: string) => {
    const labels = { 'managed-by': 'secrets-manager', 'bundle-for': 'ca' };
    const secret = secretWith(CONTROL_PLANE, name, { 'bundle.crt': 'certificates' });
    return stage.seed.apply(
      resources.secrets,
      { ...secret, metadata: { ...secret.metadata, labels } },
      { fieldManager },
    );
  };
  beforeEach(async () => {
    for (const crd of [
      crdOf('ScrapeConfig', group, 'scrapeconfigs', 'v1alpha1'),
      crdOf('PrometheusRule', group, 'prometheusrules', 'v1'),
    ])
      await stage.seed.apply(resources.customResourceDefinitions, crd, { fieldManager });
    await authority('ca-bundle-1');
    seedManager = await startResourceManager({
      ...{ source: connection(), target: connection(), class: 'seed' },
      ...{ targetNamespaces: [CONTROL_PLANE], pendingMs: 200 },
    });
  });
  afterEach(() => seedManager.stop());

  const find = (kind: Resource) => stage.seed.find(kind, inControlPlane('shoot-flux'));
  const untilThere = (kind: Resource, isWanted: (live: KubeObject | undefined) => boolean) =>
    eventually(`${kind.kind} in the control plane`, () => find(kind), isWanted);
  /** The resource-manager removes only what its status lists, and it lists the objects a moment after it has made them. */
  const untilAllThere = async () => {
    for (const kind of kinds) await untilThere(kind, (live) => live !== undefined);
    await eventually(
      'the status lists them',
      stage.managedResources,
      ({ 'shoot-flux-monitoring': monitoring }) => kinds.length === monitoring?.status?.resources?.length,
    );
  };
  const untilNoneThere = async () => {
    for (const kind of kinds) await untilThere(kind, (live) => live === undefined);
  };
  const contentNames = async () => {
    const { items } = await stage.seed.list(resources.secrets, { namespace: CONTROL_PLANE, metadataOnly: true });
    return items.map(({ metadata }) => metadata.name).filter((name) => name.includes('shoot-flux-monitoring'));
  };
  const edit = (data: Record<string, string> = {}) => stage.setFluxConfig({ ...publicRepository, ...data });
  const four = ['shoot-flux-controllers', 'shoot-flux-crds', 'shoot-flux-secrets', 'shoot-flux-sync'];

  it('are in its Prometheus and Plutono while the project asks for it, and not otherwise', async () => {
    await edit();
    await stage.deliver();
    await stage.quiet();
    expect(Object.keys(await stage.managedResources()).sort()).toEqual(four);

    await edit({ monitoring: 'true' });
    await untilAllThere();
    const [scrape, rule, dashboard] = await Promise.all(kinds.map(find));
    for (const object of [scrape, rule]) expect(object?.metadata.labels).toMatchObject({ prometheus: 'shoot' });
    expect(dashboard?.metadata.labels).toMatchObject({ 'dashboard.monitoring.gardener.cloud/shoot': 'true' });
    expect(JSON.parse(textAt(dashboard?.data, 'flux.json') ?? '')).toMatchObject({ title: 'Flux' });
    expect(scrape?.spec).toMatchObject({
      tlsConfig: { ca: { secret: { name: 'ca-bundle-1', key: 'bundle.crt' } } },
      kubernetesSDConfigs: [{ role: 'Pod', namespaces: { names: ['flux-system'] } }],
    });
    await stage.quiet();
    // It is neither recorded nor a part of the operation.
    expect((await stage.extension()).status?.lastOperation?.state).toBe('Succeeded');
    expect(Object.keys((await stage.extension()).status?.state?.applied?.managedResources ?? {}).sort()).toEqual(four);

    await edit();
    await untilNoneThere();
    await eventually('no content is left', contentNames, ({ length }) => length === 0);
    expect(Object.keys(await stage.managedResources()).sort()).toEqual(four);
  });

  it('are there by default of the landscape, follow the certificates, and leave with the extension', async () => {
    await stage.setLandscape({ defaults: { monitoring: true } });
    await edit();
    await stage.deliver();
    await untilAllThere();
    await authority('ca-bundle-2');
    await stage.seed.delete(resources.secrets, inControlPlane('ca-bundle-1'));
    await stage.deliver();
    await untilThere(scrapeConfigs, (live) => JSON.stringify(live?.spec).includes('"ca-bundle-2"'));
    await stage.leave();
    await untilNoneThere();
    expect(await contentNames()).toEqual([]);
  });
});

suite(
  'metrics of Flux in a Shoot',
  async () => {
    apis = await startApisWithShippedRights();
    return apis;
  },
  ownDistribution,
);
