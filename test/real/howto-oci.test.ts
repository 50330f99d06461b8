import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { resources } from '../../shared/kube/resource.ts';
import { example } from '../integration/documents.ts';
import { testDistribution } from '../made-distribution.ts';
import { eventually } from '../scenarios/stage.ts';
import { type RealApis, startRealApis } from './apis.ts';
import { seedCrds } from './cluster/crds.ts';
import { startFluxStage } from './sync/flux-stage.ts';
import { type PrivateRegistry, startPrivateRegistry } from './sync/private-registry.ts';

const PAGE = 'docs/howto/oci.md';
const CA = 'registry-ca';
const fluxDistribution = await testDistribution();
const isComplete = fluxDistribution !== undefined && seedCrds() !== undefined;

test.skipIf(isComplete)(testDataMissing, () => {});

describe.skipIf(!isComplete)(PAGE, () => {
  let apis: RealApis;
  let registry: PrivateRegistry;

  beforeAll(async () => {
    [apis, registry] = await Promise.all([startRealApis(), startPrivateRegistry()]);
  });

  afterAll(async () => {
    await Promise.all([apis?.stop(), registry?.[Symbol.asyncDispose]()]);
  });

  it('its manifests and its chart are Ready on the first attempt', async () => {
    await registry.pushArtifact('fleet/manifests:production', {
      'settings.yaml': configMap({ name: 'settings', namespace: 'default' }),
    });
    await registry.pushChart('charts', {
      'Chart.yaml': stringify({ apiVersion: 'v2', name: 'ingress', version: '4.1.0' }),
      'templates/settings.yaml': configMap({ name: 'ingress' }),
    });
    await using flux = await startFluxStage(apis, fluxDistribution ?? '');
    const { stage, attempts } = flux;
    const ca = await flux.putResource(CA, { 'ca.crt': registry.ca });
    const { type, stringData } = parse(example(PAGE, 'Secret'));
    const { auths } = JSON.parse(stringData['.dockerconfigjson']);
    const login = Object.values(JSON.parse(registry.dockerConfig).auths)[0];
    expect(Object.keys(auths['registry.example.com'])).toEqual(Object.keys(login as object));
    await flux.put('flux-registry', { '.dockerconfigjson': registry.dockerConfig }, type);
    await stage.setFluxConfig({ 'config.yaml': withAuthority(parse(example(PAGE, 'ConfigMap')).data['config.yaml']) });
    await stage.reconcileShoot({ spec: { resources: [ca] } });
    await stage.untilReady();
    for (const ready of ['KustomizationReady', 'ObjectsReady'])
      await eventually(
        ready,
        async () => (await stage.extension()).status?.conditions?.find((one) => one.type === ready),
        (condition) => condition?.status === 'True',
        undefined,
        90,
      );
    expect(await stage.shoot.find(resources.configMaps, { namespace: 'default', name: 'settings' })).toBeDefined();
    expect(await stage.shoot.find(resources.configMaps, { namespace: 'ingress', name: 'ingress' })).toBeDefined();
    expect(await attempts.failed()).toEqual([]);
  });

  /** Returns the configuration of the page for a registry with a certificate of its own, as the page says below it. */
  const withAuthority = (text: string): string => {
    const { objects, ...rest } = parse(text);
    rest.source.template.spec.certSecretRef = { name: CA };
    const [chart, ...others] = objects;
    chart.spec.certSecretRef = { name: CA };
    const whole = { ...rest, additionalSecretResources: [{ name: CA }], objects: [chart, ...others] };
    return stringify(whole).replaceAll('registry.example.com', registry.host);
  };
});

function configMap(metadata: { name: string; namespace?: string }): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } });
}
