import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { shootFlux } from '../../infra/cli/testing.ts';
import { isCrd } from '../../shared/flux/custom-resources.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { componentsOf } from '../../shared/flux/install.ts';
import type { Release } from '../../shared/flux/release.ts';
import { fluxInstall } from '../../shared/flux/testing.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { testDistribution } from '../made-distribution.ts';
import { sampling, seed } from '../scenarios/sampling.ts';
import { type ApiServer, startApiServer } from './cluster/api-server.ts';
import { type Etcd, startEtcd } from './cluster/etcd.ts';
import { requestJson } from './cluster/request.ts';
import { rememberEtcd } from './forget.ts';
import { drawnInstalls } from './generator/drawn.ts';
import { applyObjects } from './install/objects.ts';

/** `SHOOT_FLUX_KILLS`, as everywhere, says how much is drawn: a number for each release, or many. */
const CASES = typeof sampling === 'number' ? 2 * sampling : 50;

const folder = await testDistribution();
if (folder === undefined) test.skip(testDataMissing);
const versions = folder === undefined ? [] : await openDistribution(folder).versions();

describe.skipIf(folder === undefined)(`installations drawn at random, seed ${seed}`, () => {
  let etcd: Etcd;
  let server: ApiServer;
  let forget: () => Promise<void>;

  beforeAll(async () => {
    etcd = await startEtcd();
    server = await startApiServer({ etcd, prefix: 'dry-run' });
    forget = await rememberEtcd(etcd);
  });

  // CRDs of a release may lack a version that those of another one have stored.
  afterEach(() => forget());

  afterAll(async () => {
    await server?.stop();
    await etcd?.stop();
  });

  test.each(versions)(`a real API server accepts every object of ${CASES} with Flux %s`, async (version) => {
    const release = await openDistribution(folder ?? '').release(version);
    const crds = componentsOf(release).flatMap((name) => (release.files.get(name) ?? []).filter(isCrd));
    await applyObjects(server, crds);
    let accepted = 0;
    for (const [index, install] of drawnInstalls(CASES, version).entries()) {
      const flux = { ...install, version, components: availableIn(release, install.components) };
      const objects = await rendered(release, flux, index);
      const namespaces = objects.filter(({ kind }) => kind === 'Namespace');
      await applyObjects(
        server,
        namespaces.map(({ metadata: { name } }) => namespaceOf(name)),
      );
      // A kind is served a moment after its CRD was created.
      await vi.waitFor(() => applyObjects(server, objects, true), { timeout: 60_000, interval: 200 });
      accepted += objects.length;
    }
    expect(accepted).toBeGreaterThan(5 * CASES);
  });

  test('a claim that is bound cannot be updated as a whole, so the resource-manager may only create it (decision 53)', async () => {
    const version = versions[0] ?? '';
    const release = await openDistribution(folder ?? '').release(version);
    const flux = { version, components: ['source-controller'], storage: { size: '10Gi' } };
    const claims = (await rendered(release, flux, 0)).filter(({ kind }) => kind === 'PersistentVolumeClaim');
    const [claim] = claims;
    if (claim === undefined) throw new Error('no claim');
    await applyObjects(server, [namespaceOf('flux-system'), claim]);
    // As the controller of volumes binds it.
    const path = '/api/v1/namespaces/flux-system/persistentvolumeclaims/source-controller';
    const created = (await requestJson(server, 'GET', path)) as KubeObject;
    const spec = { ...(created.spec as object), volumeName: 'pv-1' };
    const bound = (await requestJson(server, 'PUT', path, { ...created, spec })) as KubeObject;
    // As the resource-manager updates an object without this annotation: as a whole.
    const replaced = { ...claim, metadata: bound.metadata };
    await expect(requestJson(server, 'PUT', path, replaced)).rejects.toThrow(/immutable/);
    await expect(requestJson(server, 'PUT', path, bound)).resolves.toBeDefined();
  });

  test('an object with a misspelt field would be refused', async () => {
    const wrong = { ...namespaceOf('wrong'), spce: {} };
    await expect(applyObjects(server, [wrong], true)).rejects.toThrow(/spce.*field not declared in schema/);
  });
});

const sources: [string, object][] = [
  ['GitRepository', { url: 'https://git.example.com/fleet', ref: { branch: 'main' } }],
  ['OCIRepository', { url: 'oci://registry.example.com/fleet', ref: { tag: 'latest' } }],
  ['Bucket', { endpoint: 's3.example.com', bucketName: 'fleet' }],
];

const namespaceOf = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

function availableIn(release: Release, components = fluxInstall().components): string[] {
  const available = componentsOf(release);
  const chosen = components.filter((component) => available.includes(component));
  return chosen.length === 0 ? ['source-controller'] : chosen;
}

/** All objects of a Shoot, also the root pair where the release has its kinds, as `render` prints them. */
async function rendered(release: Release, flux: { components: string[] }, index: number): Promise<KubeObject[]> {
  const args = ['render', '--json', '--flux-distribution', folder ?? '', '--provider-config', '-'];
  const hasPair = ['source-controller', 'kustomize-controller'].every((name) => flux.components.includes(name));
  const [kind, spec] = sources[index % sources.length] ?? [];
  const pair = {
    source: { template: { kind, spec } },
    kustomization: { template: { spec: { path: './clusters/bar', prune: true } } },
  };
  const config = { flux, ...(hasPair && pair) };
  const { code, out, err } = await shootFlux(args, JSON.stringify(config));
  if (code !== 0) throw new Error(`${release.version} ${JSON.stringify(config)}: ${err}`);
  return (JSON.parse(out) as { items: KubeObject[] }).items;
}
