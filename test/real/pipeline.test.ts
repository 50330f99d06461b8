import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type GitServer, startGitServer } from '@shoot-flux/landscape/git';
import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { resources } from '../../shared/kube/resource.ts';
import { testDistribution } from '../made-distribution.ts';
import { eventually, PROJECT } from '../scenarios/stage.ts';
import { type RealApis, startRealApis } from './apis.ts';
import { seedCrds } from './cluster/crds.ts';
import { startFluxStage } from './sync/flux-stage.ts';

const fluxDistribution = await testDistribution();
const isComplete = fluxDistribution !== undefined && seedCrds() !== undefined;

test.skipIf(isComplete)(testDataMissing, () => {});

describe.skipIf(!isComplete)('a pipeline that was written for v1beta1', () => {
  let apis: RealApis;
  let git: GitServer;

  beforeAll(async () => {
    [apis, git] = await Promise.all([startRealApis(), startGitServer()]);
  });

  afterAll(async () => {
    await Promise.all([apis?.stop(), git?.stop()]);
  });

  it('comes up in order, without the fields that newer APIs dropped, and a warning names them', async () => {
    const istio = await git.createRepository('istio', {
      'profiles/default/namespace.yaml': object('v1', 'Namespace', 'istio-system'),
      'profiles/default/istiod.yaml': deployment('istiod', 'istio-system'),
    });
    const webapp = await git.createRepository('webapp', {
      'common/namespace.yaml': object('v1', 'Namespace', 'webapp'),
      'backend/deployment.yaml': deployment('backend', 'webapp'),
      'frontend/deployment.yaml': deployment('frontend', 'webapp'),
    });
    const text = (await readFile(join(import.meta.dirname, 'sync/pipeline.yaml'), 'utf8'))
      .replace('https://git.example.com/istio', istio.httpUrl)
      .replace('https://git.example.com/webapp', webapp.httpUrl);
    const objects = parseAllDocuments(text).map((document) => document.toJS());
    await using flux = await startFluxStage(apis, fluxDistribution ?? '');
    const { stage, attempts } = flux;
    await stage.setFluxConfig({ 'config.yaml': stringify({ syncMode: 'Reconcile', objects }) });
    await stage.reconcileShoot();
    await stage.untilReady();
    await eventually(
      'all are Ready',
      async () => (await stage.extension()).status,
      (status) => status?.conditions?.find(({ type }) => type === 'ObjectsReady')?.status === 'True',
      (status) => status?.conditions,
      90,
    );

    const kustomizations = attempts.ready.filter((name) => name.startsWith('Kustomization '));
    expect(kustomizations).toEqual(
      ['istio', 'webapp-common', 'webapp-backend', 'webapp-frontend'].map(
        (name) => `Kustomization flux-system/${name}`,
      ),
    );
    for (const [namespace, name] of [
      ['istio-system', 'istiod'],
      ['webapp', 'backend'],
      ['webapp', 'frontend'],
    ] as const)
      expect(await stage.shoot.find(resources.deployments, { namespace, name })).toBeDefined();
    expect(await attempts.failed()).toEqual([]);

    const paths = [2, 3, 4, 5].map((index) => `objects[${index}].spec.validation is left out`);
    const { warnings = [] } = (await stage.extension()).status?.providerStatus ?? {};
    expect(warnings).toEqual(paths.map((path) => expect.stringContaining(path)));
    const { items } = await stage.garden.list(resources.events, { namespace: PROJECT });
    const said = items.filter(({ reason }) => reason === 'ConfigurationWarning').map(({ message }) => message);
    expect(said).toEqual([warnings.map((warning) => `${warning}.`).join(' ')]);
  });
});

function object(apiVersion: string, kind: string, name: string, rest: object = {}, namespace?: string): string {
  return JSON.stringify({ apiVersion, kind, metadata: { name, ...(namespace && { namespace }) }, ...rest });
}

function deployment(name: string, namespace: string): string {
  const labels = { app: name };
  const containers = [{ name, image: `registry.example.com/${name}:1` }];
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
  return object('apps/v1', 'Deployment', name, { spec }, namespace);
}
