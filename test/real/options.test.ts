import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { testData, testDataMissing } from '@shoot-flux/landscape/test-data';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { objectRef } from '../../functions/managed-resources/shoot/objects.ts';
import { makeRelease } from '../../infra/cli/distribution-make.ts';
import { files, shootFlux } from '../../infra/cli/testing.ts';
import type { FluxInstall } from '../../shared/config/types.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { fluxInstall } from '../../shared/flux/testing.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { sampling, seed } from '../scenarios/sampling.ts';
import { drawnInstalls } from './generator/drawn.ts';
import { kustomized } from './generator/kustomize.ts';
import { kustomizationsOf } from './generator/options-in-kustomize.ts';
import { type FluxInstallAnswer, fluxInstall as fluxInstallItself } from './tools/flux-install.ts';

/** `SHOOT_FLUX_KILLS`, as everywhere, says how much is drawn: a number for each release, or many. */
const CASES = typeof sampling === 'number' ? 2 * sampling : 50;

const releases = testData('flux');
if (releases === undefined) test.skip(testDataMissing);
const versions = releases === undefined ? [] : await openDistribution(releases).versions();

describe.each(versions)(`Flux %s with options drawn at random, seed ${seed}`, (version) => {
  let distribution: Awaited<ReturnType<typeof files>>;
  let digests: Record<string, string>;
  let installs: Partial<FluxInstall>[];
  let answers: FluxInstallAnswer[];

  beforeAll(async () => {
    distribution = await files({});
    const from = join(releases ?? '', version);
    const names = (await readdir(from)).map((file) => file.replace('.yaml', ''));
    const components = names.filter((name) => !['policies', 'rbac'].includes(name));
    digests = Object.fromEntries(components.map((component) => [component, digestOf(`${version} ${component}`)]));
    const images = components.map((component) => ({ component, digest: digests[component] ?? '' }));
    const quiet = { out: () => {}, err: () => {}, stdin: async () => '', environment: {} };
    await makeRelease({ dir: distribution.dir, from, version, images }, quiet);
    installs = drawnInstalls(CASES, `options ${version}`).map((install) => {
      const chosen = (install.components ?? fluxInstall().components).filter((name) => components.includes(name));
      return { ...install, components: chosen.length === 0 ? ['source-controller'] : chosen };
    });
    answers = await fluxInstallItself(
      installs.map((install) => ({ release: from, options: optionsOf(version, install) })),
    );
    return () => distribution[Symbol.asyncDispose]();
  });

  test.each([...Array(CASES).keys()])('installation %i is what kustomize makes of the generated one', async (index) => {
    const install = installs[index] ?? {};
    const answer = answers[index] ?? { error: 'no answer' };
    if ('error' in answer) throw new Error(answer.error);
    await using place = await files({});
    const generated = documents(answer.content).map(withoutSchemas);
    const builds = kustomizationsOf(generated, install, { version, digests });
    const expected = (await kustomized(place.dir, generated, builds)).map(protectedByUs);
    const own = await rendered(distribution.dir, version, install);
    expect([...own.keys()].sort()).toEqual(expected.map(objectRef).sort());
    for (const object of expected) expect(own.get(objectRef(object)), JSON.stringify(install)).toEqual(object);
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
  const { items } = JSON.parse(out) as { items: KubeObject[] };
  const objects = items.map(withoutSchemas).map(inOrder);
  return new Map(objects.map((object) => [objectRef(object), object]));
}

function documents(yaml: string): KubeObject[] {
  const parsed = parseAllDocuments(yaml).map((document) => document.toJS() as KubeObject | null);
  return parsed.filter((object) => object !== null);
}

/** Their schemas are long, and no option changes them: oracle.test.ts compares them. */
function withoutSchemas(object: KubeObject): KubeObject {
  if (object.kind !== 'CustomResourceDefinition') return object;
  const { group, names } = object.spec as { group: string; names: object };
  return { ...object, spec: { group, names } };
}

/** The user's own Kustomizations leave the objects alone that we manage (decision 51). */
function protectedByUs(object: KubeObject): KubeObject {
  const protection = { 'kustomize.toolkit.fluxcd.io/prune': 'Disabled', 'kustomize.toolkit.fluxcd.io/ssa': 'Ignore' };
  const annotations = { ...object.metadata.annotations, ...protection };
  return inOrder({ ...object, metadata: { ...object.metadata, annotations } });
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
