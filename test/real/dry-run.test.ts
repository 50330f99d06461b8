import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { shootFlux } from '../../infra/cli/testing.ts';
import { installDefaults } from '../../shared/config/flux-options.ts';
import { isCrd } from '../../shared/flux/custom-resources.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { componentsOf } from '../../shared/flux/install.ts';
import type { Release } from '../../shared/flux/release.ts';
import { fluxInstall, standIn } from '../../shared/flux/testing.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { isEstablished } from '../established.ts';
import { numericSeed, sampling, seed } from '../scenarios/sampling.ts';
import { requestJson } from './cluster/request.ts';
import { applyObjects, namespaceOf } from './install/objects.ts';
import { useApiServers, withTestData } from './on-real-apis.ts';

/** `SHOOT_FLUX_KILLS`, as everywhere, says how much is drawn: a number for each release, or many. */
const CASES = typeof sampling === 'number' ? 2 * sampling : 50;

const sources: [string, object][] = [
  ['GitRepository', { url: 'https://git.example.com/fleet', ref: { branch: 'main' }, timeout: '60s' }],
  ['OCIRepository', { url: 'oci://registry.example.com/fleet', ref: { tag: 'latest' } }],
  ['Bucket', { endpoint: 's3.example.com', bucketName: 'fleet', region: 'eu-1' }],
];

withTestData(`installations drawn at random, seed ${seed}`, async (folder) => {
  const used = useApiServers({ 'dry-run': {} });
  const distribution = openDistribution(folder);
  const versions = await distribution.versions();
  const apply = (objects: KubeObject[], dryRun = false) => applyObjects(used.servers['dry-run'], objects, dryRun);

  // CRDs of a release may lack a version that those of another one have stored.
  afterEach(() => used.forget());

  /** A CRD is served, and keeps its resourceVersion, from a moment after its creation. */
  const applyServed = (objects: KubeObject[], dryRun = false) =>
    vi.waitFor(
      async () => {
        const stored = await apply(objects, dryRun);
        expect(stored.filter((object) => isCrd(object) && !isEstablished(object))).toEqual([]);
        return stored;
      },
      { timeout: 240_000, interval: 200 },
    );

  test.each(versions)(`a real API server accepts every object of ${CASES} with Flux %s`, async (version) => {
    const release = await distribution.release(version);
    await apply(crdsOf(release));
    let accepted = 0;
    for (const [index, install] of fc.sample(installs, { numRuns: CASES, seed: numericSeed }).entries()) {
      const flux = { ...install, version, components: availableIn(release, install.components) };
      const objects = await rendered(folder, flux, index);
      await apply(
        objects.filter(({ kind }) => kind === 'Namespace').map(({ metadata: { name } }) => namespaceOf(name)),
      );
      await applyServed(objects, true);
      accepted += objects.length;
    }
    expect(accepted).toBeGreaterThan(5 * CASES);
  });

  test.each([[standIn.version, standIn.folder], ...versions.map((version) => [version, folder])])(
    'a real API server stores all of Flux %s as it was sent, with each kind of source, and another apply changes nothing of the installation',
    async (version, from) => {
      const release = await openDistribution(from).release(version);
      const components = componentsOf(release);
      await apply(crdsOf(release));
      for (const [index, [kind]] of sources.entries()) {
        const objects = await rendered(from, { version, components }, index);
        expect(objects.filter((object) => object.kind === 'Deployment')).toHaveLength(components.length);
        const stored = await applyServed(objects);
        expect(stored.map(({ metadata }) => metadata)).toMatchObject(objects.map(({ metadata }) => metadata));
        const isOfPair = (object: KubeObject) => [kind, 'Kustomization'].includes(object.kind);
        expect(objects.filter(isOfPair)).toHaveLength(2);
        expect(stored.filter(isOfPair)).toMatchObject(objects.filter(isOfPair));
        const versionsOf = (all: KubeObject[]) =>
          all.filter((object) => !isOfPair(object)).map(({ metadata }) => metadata.resourceVersion);
        expect(versionsOf(await apply(objects))).toEqual(versionsOf(stored));
      }
    },
  );

  test('a claim that is bound cannot be updated as a whole, so the resource-manager may only create it (decision 53)', async () => {
    const flux = { version: versions[0] ?? '', components: ['source-controller'], storage: { size: '10Gi' } };
    const claims = (await rendered(folder, flux, 0)).filter(({ kind }) => kind === 'PersistentVolumeClaim');
    const [claim] = claims;
    if (claim === undefined) throw new Error('no claim');
    const [, created] = await apply([namespaceOf('flux-system'), claim]);
    // As the controller of volumes binds it.
    const path = '/api/v1/namespaces/flux-system/persistentvolumeclaims/source-controller';
    const put = (object: object) => requestJson(used.servers['dry-run'], 'PUT', path, object);
    const spec = { ...(created?.spec as object), volumeName: 'pv-1' };
    const bound = (await put({ ...created, spec })) as KubeObject;
    // As the resource-manager updates an object without this annotation: as a whole.
    await expect(put({ ...claim, metadata: bound.metadata })).rejects.toThrow(/immutable/);
    await expect(put(bound)).resolves.toBeDefined();
  });

  test('an object with a misspelt field would be refused', async () => {
    const wrong = { ...namespaceOf('wrong'), spce: {} };
    await expect(apply([wrong], true)).rejects.toThrow(/spce.*field not declared in schema/);
  });
});

/** Options of `flux install` and others: some of them for each installation, with one of these values each. */
const values: Record<string, unknown[]> = {
  namespace: ['flux-system', 'gitops', 'flux-system-2'],
  registry: ['ghcr.io/fluxcd', 'registry.example:5000/a/b'],
  imagePullSecret: ['pull', 'registry-credentials'],
  tolerationKeys: [[], ['a'], ['a', 'example.com/b', 'c']],
  networkPolicy: [true, false],
  watchAllNamespaces: [true, false],
  logLevel: ['debug', 'info', 'error'],
  clusterDomain: ['cluster.local', 'shoot.example'],
  size: ['small', 'medium', 'large'],
  multiTenancy: [true, false],
  priorityClass: ['system-node-critical', 'platform'],
  nodeSelector: [{ 'worker.gardener.cloud/pool': 'infra' }, { 'kubernetes.io/os': 'linux' }],
  commonMetadata: [
    { labels: { 'example.com/team': 'a', stage: 'dev' } },
    { labels: { stage: 'dev' }, annotations: { 'example.com/contact': 'team a, room 7' } },
  ],
  proxy: [
    { http: 'http://proxy.example:3128', https: 'socks5://10.0.0.1:1080' },
    { https: 'http://proxy.example:3128', noProxy: '10.0.0.0/8,registry.example' },
    { secretName: 'proxy', noProxy: '.example.com' },
  ],
  storage: [{ class: 'fast', size: '10Gi' }, { size: '512Mi' }],
  sharding: [{ key: 'example.com/shard', shards: ['one', 'two'] }, { shards: ['shard3'] }],
};
const images = ['image-reflector-controller', 'image-automation-controller'];
const installs = fc.record(
  {
    ...Object.fromEntries(Object.entries(values).map(([name, each]) => [name, fc.constantFrom(...each)] as const)),
    components: fc.subarray([...installDefaults.components, ...images, 'source-watcher'], { minLength: 1 }),
  } as { components: fc.Arbitrary<string[]> },
  { requiredKeys: [] },
);

const crdsOf = (release: Release) =>
  componentsOf(release).flatMap((name) => (release.files.get(name) ?? []).filter(isCrd));

function availableIn(release: Release, components = fluxInstall().components): string[] {
  const available = componentsOf(release);
  const chosen = components.filter((component) => available.includes(component));
  return chosen.length === 0 ? ['source-controller'] : chosen;
}

/** All objects of a Shoot, also the root pair where the release has its kinds, as `render` prints them. */
async function rendered(
  from: string,
  flux: { components: string[]; [option: string]: unknown },
  index: number,
): Promise<KubeObject[]> {
  const args = ['render', '--json', '--flux-distribution', from, '--provider-config', '-'];
  const hasPair = ['source-controller', 'kustomize-controller'].every((name) => flux.components.includes(name));
  const [kind, spec] = sources[index % sources.length] ?? [];
  const pair = {
    source: { template: { kind, spec } },
    kustomization: { template: { spec: { path: './clusters/bar', prune: true, wait: true } } },
  };
  const config = { flux, ...(hasPair && pair) };
  const { code, out, err } = await shootFlux(args, JSON.stringify(config));
  if (code !== 0) throw new Error(`${JSON.stringify(config)}: ${err}`);
  return (JSON.parse(out) as { items: KubeObject[] }).items;
}
