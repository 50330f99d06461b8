import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { objectRef } from '../../functions/managed-resources/shoot/objects.ts';
import { files, shootFlux } from '../../infra/cli/testing.ts';
import type { FluxInstall } from '../../shared/config/types.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { componentsOf, installObjects } from '../../shared/flux/install.ts';
import type { Release } from '../../shared/flux/release.ts';
import { RELEASE_JSON } from '../../shared/flux/release-files.ts';
import { fluxInstall } from '../../shared/flux/testing.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { testDistribution } from '../made-distribution.ts';
import { generatedOptions } from './generator/drawn.ts';
import { type FluxInstallAnswer, fluxInstall as fluxInstallItself } from './tools/flux-install.ts';

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

/** Options drawn at random; `SHOOT_FLUX_SEED` chooses others. */
const drawn = generatedOptions(10);
for (const [index, changes] of drawn.entries()) variants[`drawn at random, ${index}`] = changes;

const folder = await testDistribution();
if (folder === undefined) test.skip(testDataMissing);
const versions = folder === undefined ? [] : await openDistribution(folder).versions();

describe.each(versions)('Flux %s', (version) => {
  let release: Release;
  let answers: Map<string, FluxInstallAnswer>;

  beforeAll(async () => {
    release = await openDistribution(folder ?? '').release(version);
    const requests = Object.values(variants).map((changes) => ({
      release: `${folder}/${version}`,
      options: optionsOf(version, fluxInstall(changes)),
    }));
    const contents = await fluxInstallItself(requests);
    answers = new Map(Object.keys(variants).map((name, index) => [name, contents[index] ?? { error: 'no answer' }]));
  });

  test.each(Object.entries(variants))('%s', async (name, changes) => {
    const answer = answers.get(name);
    const install = fluxInstall(changes);
    const lacks = install.components.some((component) => !componentsOf(release).includes(component));
    if (answer === undefined || 'error' in answer) {
      expect({ lacks, answer }).toMatchObject({
        lacks: true,
        answer: { error: expect.stringContaining('no such file') },
      });
      expect(() => installObjects(release, install)).toThrow(`is not a component of Flux ${version}`);
      return;
    }
    const expected = documents(answer.content);
    expect(installObjects(release, install)).toStrictEqual(expected);
    expect(await rendered(version, changes)).toStrictEqual(byName(expected.map(protectedByUs)));
  });

  test('reads the same objects from release.json as from the YAML files', async () => {
    await using target = await files({});
    const make = ['--flux-distribution', target.dir, '--from', `${folder}/${version}`, '--version', version];
    expect(await shootFlux(['distribution', 'make', ...make])).toMatchObject({ code: 0 });
    expect(await readFile(join(target.dir, version, RELEASE_JSON), 'utf8')).toContain(release.digest);
    expect(await openDistribution(target.dir).release(version)).toStrictEqual(release);
    for (const [name, objects] of release.files) {
      expect({ name, objects }).toEqual({
        name,
        objects: documents(await readFile(`${folder}/${version}/${name}.yaml`, 'utf8')),
      });
    }
  });
});

/** The user's own Kustomizations leave the objects alone that we manage (decision 51). */
function protectedByUs(object: KubeObject): KubeObject {
  const protection = { 'kustomize.toolkit.fluxcd.io/prune': 'Disabled', 'kustomize.toolkit.fluxcd.io/ssa': 'Ignore' };
  const annotations = { ...object.metadata.annotations, ...protection };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** Returns the options under their names in Flux's own code. */
function optionsOf(version: string, install: FluxInstall) {
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

/** Returns what `render` prints for the same options in a providerConfig, sorted by name, because it prints in groups. */
async function rendered(version: string, changes: Partial<FluxInstall>): Promise<Map<string, KubeObject>> {
  const args = ['render', '--flux-distribution', folder ?? '', '--provider-config', '-'];
  const existingSecrets = changes.imagePullSecret === undefined ? [] : [changes.imagePullSecret];
  const config = { flux: { version, ...changes }, existingSecrets };
  const { code, out, err } = await shootFlux(args, JSON.stringify(config));
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return byName(documents(out));
}

function documents(yaml: string): KubeObject[] {
  return parseAllDocuments(yaml)
    .map((document) => document.toJS() as KubeObject | null)
    .filter((object) => object !== null);
}

function byName(objects: KubeObject[]): Map<string, KubeObject> {
  const named = new Map(objects.map((object) => [objectRef(object), object]));
  expect(named.size).toBe(objects.length);
  return named;
}
