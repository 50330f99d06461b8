import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { expect, test } from 'vitest';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { componentsOf, installObjects } from '../../shared/flux/install.ts';
import { fluxInstall } from '../../shared/flux/testing.ts';
import { fieldsAt } from '../../shared/shapes.ts';
import { testDistribution } from '../made-distribution.ts';

const folder = await testDistribution();
if (folder === undefined) test.skip(testDataMissing);
const releases = folder === undefined ? [] : await openDistribution(folder).versions();

/** One Pod at a time: another one could not use its disk. */
const stopFirst = ['source-controller', 'source-watcher'];

test.each(releases)(
  'a Pod of Flux %s runs until its next one is available, except those with a disk',
  async (version) => {
    const release = await openDistribution(folder ?? '').release(version);
    const objects = installObjects(release, fluxInstall({ components: componentsOf(release) }));
    const deployments = objects.filter(({ kind }) => kind === 'Deployment');
    expect(deployments.length).toBeGreaterThanOrEqual(6);
    for (const { metadata, spec } of deployments) {
      const replicas = fieldsAt({ spec }, 'spec')?.replicas;
      const strategy = fieldsAt(spec, 'strategy');
      // By default a quarter of the Pods may be missing, rounded down: of one, none.
      expect([metadata.name, replicas, strategy]).toEqual([
        metadata.name,
        1,
        stopFirst.includes(metadata.name) ? { type: 'Recreate' } : undefined,
      ]);
    }
  },
);
