import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { testData } from '@shoot-flux/landscape/test-data';
import { beforeAll, describe, expect, test } from 'vitest';
import { objectRef } from '../../functions/managed-resources/shoot/objects.ts';
import { shootFlux } from '../../infra/cli/testing.ts';
import type { FluxInstall } from '../../shared/config/types.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { componentsOf, installObjects } from '../../shared/flux/install.ts';
import type { Release } from '../../shared/flux/release.ts';
import { RELEASE_JSON } from '../../shared/flux/release-files.ts';
import { fluxInstall } from '../../shared/flux/testing.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { objectsIn } from './install/helm.ts';
import { withTestData } from './on-real-apis.ts';
import { buildTools } from './tools/build.ts';

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
    let release: Release;
    let answers: FluxInstallAnswer[];

    /** What Flux's own generator makes of installations. */
    const generated = (wanted: Partial<FluxInstall>[]) =>
      fluxInstallItself(wanted.map((install) => ({ release: from, options: optionsOf(version, install) })));

    beforeAll(async () => {
      release = await openDistribution(plain).release(version);
      answers = await generated(Object.values(variants));
    });

    test.each([...Object.keys(variants).entries()])('variant %i is what Flux generates: %s', (index, name) => {
      const answer = answers[index];
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
      const [answer] = await generated([all]);
      if (answer === undefined || 'error' in answer) throw new Error(answer?.error);
      expect(await rendered(plain, version, all)).toStrictEqual(byRef(objectsIn(answer.content).map(protectedByUs)));
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
      // Another Pod could not use the disk. By default a quarter of the Pods may be missing, rounded down: of one, none.
      for (const { metadata, spec } of deployments) {
        const stopsFirst = ['source-controller', 'source-watcher'].includes(metadata.name);
        const { replicas, strategy } = spec as { replicas: number; strategy?: object };
        expect({ replicas, strategy }).toEqual({
          replicas: 1,
          strategy: stopsFirst ? { type: 'Recreate' } : undefined,
        });
      }
    });
  });
});

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
  // Most of these releases lack fixes that others in the folder have.
  const shown = /^not shown: [^\n]*\n(?:warning: providerConfig: flux\.version [^\n]*\n)?$/;
  expect({ code, err }, JSON.stringify(flux)).toEqual({ code: 0, err: expect.stringMatching(shown) });
  return byRef((JSON.parse(out) as { items: KubeObject[] }).items);
}

function byRef(objects: KubeObject[]): Map<string, KubeObject> {
  const named = new Map(objects.map((object) => [objectRef(object), object]));
  expect(named.size).toBe(objects.length);
  return named;
}

/** The user's own Kustomizations leave the objects alone that we manage (decision 51). */
function protectedByUs(object: KubeObject): KubeObject {
  const protection = { 'kustomize.toolkit.fluxcd.io/prune': 'Disabled', 'kustomize.toolkit.fluxcd.io/ssa': 'Ignore' };
  const annotations = { ...object.metadata.annotations, ...protection };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** What `flux install --export` prints, or why it refuses. */
type FluxInstallAnswer = { content: string } | { error: string };

/**
 * Returns what the code of the flux CLI would install for each request, in order, from a single process: a folder with
 * the files of one release, and options by their names in flux2.
 */
async function fluxInstallItself(
  requests: readonly { release: string; options: object }[],
): Promise<FluxInstallAnswer[]> {
  const { manifestgen } = await buildTools(['manifestgen']);
  const child = spawn(manifestgen, { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  // A tool that ends early reports the reason on standard error; its broken input pipe adds nothing.
  child.stdin.on('error', () => {});
  child.stdin.end(requests.map((request) => `${JSON.stringify(request)}\n`).join(''));
  const [output, complaints, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) throw new Error(`manifestgen failed: ${complaints}`);
  const lines = output.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as FluxInstallAnswer);
}
