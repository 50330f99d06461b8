import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { files } from '../cli/testing.ts';
import type { ServedShoot } from './seeds.ts';
import { createObject, startClusters } from './testing.ts';
import { distribution } from './versions.ts';

describe('versions of clusters', () => {
  let clusters: Awaited<ReturnType<typeof startClusters>>;
  beforeAll(async () => {
    clusters = await startClusters();
  });
  afterAll(() => clusters[Symbol.asyncDispose]());

  it.each([
    [undefined, '! aws versions: The version of Gardener is not known.'],
    ['v1.150.1', '✔ aws versions: It runs Gardener v1.150.1.'],
    ['v1.147.0-dev-abc', '✔ aws versions: It runs Gardener v1.147.0-dev-abc.'],
    [
      'v1.146.9',
      '✗ aws versions: It runs Gardener v1.146.9; upgrade it, because 1.147.0 is the first whose resource-managers write to the namespaces of Flux.',
    ],
  ])('with Gardener %s', async (version, line) => {
    const restore = clusters.seed.checkpoint();
    if (version !== undefined) {
      createObject(clusters.seed, {
        ...{ apiVersion: 'extensions.gardener.cloud/v1alpha1', kind: 'Cluster', metadata: { name: 'shoot--foo--a' } },
        spec: { cloudProfile: {}, shoot: {}, seed: { status: { gardener: { version } } } },
      });
    }
    expect(await clusters.lines('versions')).toEqual([
      '✔ garden versions: It runs Kubernetes v1.36.3.',
      '✔ aws versions: It runs Kubernetes v1.36.3.',
      line,
    ]);
    restore();
  });
});

describe('the distribution', () => {
  const now = new Date('2026-06-01T00:00:00Z');

  async function findings(releases: Record<string, string>, ...shoots: (string | Partial<ServedShoot>)[]) {
    await using written = await files({});
    for (const [version, added] of Object.entries(releases)) {
      await mkdir(join(written.dir, version));
      const sums = join(written.dir, version, 'SHA256SUMS');
      await writeFile(sums, '');
      await utimes(sums, new Date(added), new Date(added));
    }
    const all = shoots.map((shoot, index) => ({
      ...{ name: `garden-foo/${index}`, seed: 'aws', kubernetes: '1.35.1' },
      ...(typeof shoot === 'string' ? { kubernetes: shoot } : shoot),
    }));
    const found = await distribution(written.dir, all, now);
    return found.map(({ verdict, sentence, remedy }) =>
      `${verdict} ${sentence}${remedy ? ` | ${remedy}` : ''}`.replaceAll(written.dir, 'DIR'),
    );
  }

  const make = 'shoot-flux distribution make --flux-distribution DIR --from-release';

  it('is good with a new release for all Shoots', async () => {
    expect(await findings({ 'v2.9.4': '2026-05-20', 'v2.8.8': '2025-05-20' }, '1.34.1', '1.33.9')).toEqual([
      '✔ The newest Flux release is v2.9.4, added 12d ago',
      '✔ Its releases support the Kubernetes of all 2 Shoots',
    ]);
  });

  it('is old, or has no date', async () => {
    const compare = 'compare it with https://github.com/fluxcd/flux2/releases';
    expect(await findings({ 'v2.9.4': '2026-01-01' })).toEqual([
      `! The newest Flux release is v2.9.4, added 151d ago; ${compare} | ${make} vX.Y.Z`,
    ]);
    expect(await findings({ 'v2.9.4': '1970-01-01' })).toEqual([
      `! The newest Flux release is v2.9.4, its files have no date; ${compare}`,
    ]);
  });

  it('lacks a release for the Kubernetes of Shoots', async () => {
    expect((await findings({ 'v2.9.4': '2026-05-20' }, '1.33.2', '1.33.9', '1.37.0', '1.35.0')).slice(1)).toEqual([
      `✗ 2 Shoots, such as garden-foo/0, have Kubernetes 1.33, which no Flux release in the distribution supports any more; upgrade Kubernetes, or add an older release | ${make} v2.8.X`,
      `! Shoot garden-foo/2 has Kubernetes 1.37, which no Flux release in the distribution supports yet; add a newer one | ${make} v2.12.X`,
    ]);
  });

  it('says which Shoots lack fixes, or have a Kubernetes that their Flux does not support', async () => {
    const releases = { 'v2.9.4': '2026-05-20', 'v2.7.5': '2026-05-20' };
    const runs = (flux: string, kubernetes = '1.34.1') => ({ flux, kubernetes });
    const status = 'shoot-flux status --all-namespaces -o wide';
    const shoots = [runs('v2.9.4'), runs('v2.9.3'), runs('v2.9.1'), runs('v2.6.4', '1.33.4'), runs('v2.7.5', '1.36.1')];
    expect((await findings(releases, ...shoots, {})).slice(2)).toEqual([
      `! 2 Shoots, such as garden-foo/1, have a Flux release that lacks the fixes of a newer patch in the distribution | ${status}`,
      `! Shoot garden-foo/3 has a Flux release whose minor version is no longer maintained | ${status}`,
      `! Shoot garden-foo/4 has a Kubernetes that the installed Flux release does not support | ${status}`,
    ]);
  });

  it('in a registry is not extended where it was pulled to', async () => {
    await using written = await files({});
    const [found] = await distribution(written.dir, [], now, 'oci://registry.example.com/flux@sha256:00');
    expect(found).toMatchObject({
      sentence: 'oci://registry.example.com/flux@sha256:00 holds no stable Flux release',
      remedy: 'shoot-flux distribution make --flux-distribution DIR --from-release vX.Y.Z',
    });
  });

  it('is empty', async () => {
    expect(await findings({ 'v2.10.0-rc.1': '2026-05-20' })).toEqual([
      `✗ DIR holds no stable Flux release | ${make} vX.Y.Z`,
    ]);
  });
});
