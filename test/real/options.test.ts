import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testData } from '@shoot-flux/landscape/test-data';
import { beforeAll, describe, expect, test } from 'vitest';
import { objectRef } from '../../functions/managed-resources/shoot/objects.ts';
import { makeRelease } from '../../infra/cli/distribution-make.ts';
import { files, shootFlux } from '../../infra/cli/testing.ts';
import type { FluxInstall } from '../../shared/config/types.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { componentsOf, installObjects } from '../../shared/flux/install.ts';
import type { Release } from '../../shared/flux/release.ts';
import { RELEASE_JSON } from '../../shared/flux/release-files.ts';
import { fluxInstall } from '../../shared/flux/testing.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { fieldsAt } from '../../shared/shapes.ts';
import { sampling, seed } from '../scenarios/sampling.ts';
import { drawnInstalls } from './generator/drawn.ts';
import { kustomized } from './generator/kustomize.ts';
import { kustomizationsOf } from './generator/options-in-kustomize.ts';
import { objectsIn } from './install/helm.ts';
import { withTestData } from './on-real-apis.ts';
import { type FluxInstallAnswer, fluxInstall as fluxInstallItself } from './tools/flux-install.ts';

/** `SHOOT_FLUX_KILLS`, as everywhere, says how much is drawn: a number for each release, or many. */
const CASES = typeof sampling === 'number' ? 2 * sampling : 50;

const core = fluxInstall().components;
const images = ['image-reflector-controller', 'image-automation-controller'];

/** Options that both generators get; all others have their defaults. */
const variants: Record<string, Partial<FluxInstall>> = {
  'the defaults': {},
  'another namespace': { namespace: 'gitops' },
  'a namespace that begins alike': { namespace: 'flux-system-2' },
  'another registry': { registry: 'registry.example:5000/mirror/fluxcd' },
  'a pull secret': { imagePullSecret: 'registry-credentials' },
  'one toleration': { tolerationKeys: ['node-role.kubernetes.io/infra'] },
  'several tolerations': { tolerationKeys: ['infra', 'example.com/dedicated', 'spot'] },
  'no network policies': { networkPolicy: false },
  'its own namespace only': { watchAllNamespaces: false },
  'level debug': { logLevel: 'debug' },
  'level error': { logLevel: 'error' },
  'another cluster domain': { clusterDomain: 'shoot.example' },
  'source and kustomize': { components: core.slice(0, 2) },
  'the same in another order': { components: ['kustomize-controller', 'source-controller'] },
  'source alone': { components: ['source-controller'] },
  'without notification': { components: core.slice(0, 3) },
  'notification alone': { components: ['notification-controller'], logLevel: 'debug', watchAllNamespaces: false },
  'image automation': { components: [...core, ...images] },
  'image reflection without events': { components: ['source-controller', 'image-reflector-controller'] },
  'source-watcher': { components: [...core, 'source-watcher'] },
  'source-watcher first': { components: ['source-watcher', ...core], clusterDomain: 'shoot.example' },
  'source-watcher without helm': { components: ['source-controller', 'kustomize-controller', 'source-watcher'] },
  'source-watcher without kustomize': { components: ['source-controller', 'helm-controller', 'source-watcher'] },
  'a component that no release has': { components: [...core, 'frob-controller'] },
  everything: {
    components: [...core, ...images, 'source-watcher'],
    namespace: 'gitops',
    registry: 'registry.example/fluxcd',
    imagePullSecret: 'pull',
    tolerationKeys: ['a', 'b'],
    networkPolicy: false,
    watchAllNamespaces: false,
    logLevel: 'error',
    clusterDomain: 'shoot.example',
  },
};

const releases = testData('flux') ?? '';
const versions = releases === '' ? [] : await openDistribution(releases).versions();

withTestData('releases of Flux', (plain) => {
  describe.each(versions)('%s', (version) => {
    const from = join(releases, version);
    /** With a digest for each image. */
    let distribution: Awaited<ReturnType<typeof files>>;
    let release: Release;
    let digests: Record<string, string>;
    let installs: Partial<FluxInstall>[];
    let answers: FluxInstallAnswer[];

    /** What Flux's own generator makes of installations. */
    const generated = (wanted: Partial<FluxInstall>[]) =>
      fluxInstallItself(wanted.map((install) => ({ release: from, options: optionsOf(version, install) })));

    beforeAll(async () => {
      distribution = await files({});
      const names = (await readdir(from)).map((file) => file.replace('.yaml', ''));
      const components = names.filter((name) => !['policies', 'rbac'].includes(name));
      digests = Object.fromEntries(components.map((component) => [component, digestOf(`${version} ${component}`)]));
      const named = components.map((component) => ({ component, digest: digests[component] ?? '' }));
      const quiet = { out: () => {}, err: () => {}, stdin: async () => '', environment: {} };
      await makeRelease({ dir: distribution.dir, from, version, images: named }, quiet);
      release = await openDistribution(plain).release(version);
      installs = drawnInstalls(CASES, `options ${version}`).map((install) => {
        const chosen = (install.components ?? core).filter((name) => components.includes(name));
        return { ...install, components: chosen.length === 0 ? ['source-controller'] : chosen };
      });
      answers = await generated([...installs, ...Object.values(variants)]);
      return () => distribution[Symbol.asyncDispose]();
    });

    test.each([...Object.keys(variants).entries()])('variant %i is what Flux generates: %s', (index, name) => {
      const answer = answers[CASES + index];
      const install = fluxInstall(variants[name]);
      const lacks = install.components.some((component) => !componentsOf(release).includes(component));
      if (answer === undefined || 'error' in answer) {
        const noFile = { error: expect.stringContaining('no such file') };
        expect({ lacks, answer }).toMatchObject({ lacks: true, answer: noFile });
        expect(() => installObjects(release, install)).toThrow(`is not a component of Flux ${version}`);
        return;
      }
      expect(installObjects(release, install)).toStrictEqual(objectsIn(answer.content));
    });

    test('all of it is printed, with the schemas of CRDs', async () => {
      const all = { ...variants.everything, components: componentsOf(release) };
      const install = { ...all, imageDigests: 'Never' as const };
      const [answer] = await generated([install]);
      if (answer === undefined || 'error' in answer) throw new Error(answer?.error);
      const own = await rendered(distribution.dir, version, install);
      expect(own).toStrictEqual(byRef(objectsIn(answer.content).map(protectedByUs)));
    });

    test('release.json has the same objects as the YAML files', async () => {
      expect(await readFile(join(plain, version, RELEASE_JSON), 'utf8')).toContain(release.digest);
      for (const [name, objects] of release.files)
        expect(objects, name).toEqual(objectsIn(await readFile(join(from, `${name}.yaml`), 'utf8')));
    });

    test('a Pod runs until its next one is available, except those with a disk', () => {
      const objects = installObjects(release, fluxInstall({ components: componentsOf(release) }));
      const deployments = objects.filter(({ kind }) => kind === 'Deployment');
      expect(deployments.length).toBeGreaterThanOrEqual(6);
      for (const { metadata, spec } of deployments) {
        // Another Pod could not use the disk. By default a quarter of the Pods may be missing, rounded down: of one, none.
        const stopsFirst = ['source-controller', 'source-watcher'].includes(metadata.name);
        const strategy = stopsFirst ? { type: 'Recreate' } : undefined;
        expect([metadata.name, fieldsAt({ spec }, 'spec')?.replicas, fieldsAt(spec, 'strategy')]).toEqual([
          metadata.name,
          1,
          strategy,
        ]);
      }
    });

    test.each([...Array(CASES).keys()])(
      `installation %i of options drawn at random is what kustomize makes of the generated one, seed ${seed}`,
      async (index) => {
        const install = installs[index] ?? {};
        const answer = answers[index] ?? { error: 'no answer' };
        if ('error' in answer) throw new Error(answer.error);
        await using place = await files({});
        const objects = objectsIn(answer.content).map(withoutSchemas);
        const builds = kustomizationsOf(objects, install, { version, digests });
        const expected = (await kustomized(place.dir, objects, builds)).map(protectedByUs).map(inOrder);
        const printed = [...(await rendered(distribution.dir, version, install)).values()];
        const own = byRef(printed.map(withoutSchemas).map(inOrder));
        expect([...own.keys()].sort()).toEqual(expected.map(objectRef).sort());
        for (const object of expected) expect(own.get(objectRef(object)), JSON.stringify(install)).toEqual(object);
      },
    );
  });
});

const digestOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

/** The options that Flux's own generator knows, under their names there. */
function optionsOf(version: string, changes: Partial<FluxInstall>) {
  const install = fluxInstall(changes);
  return {
    Version: version,
    Namespace: install.namespace,
    Components: install.components,
    Registry: install.registry,
    ImagePullSecret: install.imagePullSecret ?? '',
    WatchAllNamespaces: install.watchAllNamespaces,
    NetworkPolicy: install.networkPolicy,
    LogLevel: install.logLevel,
    ClusterDomain: install.clusterDomain,
    TolerationKeys: install.tolerationKeys,
  };
}

/** What `render` prints for the same options in a providerConfig. */
async function rendered(dir: string, version: string, flux: Partial<FluxInstall>): Promise<Map<string, KubeObject>> {
  const args = ['render', '--json', '--flux-distribution', dir, '--provider-config', '-'];
  const existingSecrets = ['proxy', ...(flux.imagePullSecret === undefined ? [] : [flux.imagePullSecret])];
  const config = { flux: { version, ...flux }, existingSecrets };
  const { code, out, err } = await shootFlux(args, JSON.stringify(config));
  expect({ code, err }, JSON.stringify(flux)).toEqual({ code: 0, err: expect.stringMatching(/^not shown: .*\n$/) });
  return byRef((JSON.parse(out) as { items: KubeObject[] }).items);
}

function byRef(objects: KubeObject[]): Map<string, KubeObject> {
  const named = new Map(objects.map((object) => [objectRef(object), object]));
  expect(named.size).toBe(objects.length);
  return named;
}

/** Their schemas are long, and no option changes them. */
function withoutSchemas(object: KubeObject): KubeObject {
  if (object.kind !== 'CustomResourceDefinition') return object;
  const { group, names } = object.spec as { group: string; names: object };
  return { ...object, spec: { group, names } };
}

/** The user's own Kustomizations leave the objects alone that we manage (decision 51). */
function protectedByUs(object: KubeObject): KubeObject {
  const protection = { 'kustomize.toolkit.fluxcd.io/prune': 'Disabled', 'kustomize.toolkit.fluxcd.io/ssa': 'Ignore' };
  const annotations = { ...object.metadata.annotations, ...protection };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** Flags mean the same in any order, as each of them is given once. */
function inOrder(object: KubeObject): KubeObject {
  if (object.kind !== 'Deployment') return object;
  const copy = structuredClone(object);
  const { template } = copy.spec as { template: { spec: { containers: { args?: string[] }[] } } };
  for (const container of template.spec.containers) {
    const names = container.args?.map((arg) => arg.split('=')[0]);
    expect(new Set(names).size).toBe(names?.length ?? 0);
    container.args?.sort();
  }
  return copy;
}
