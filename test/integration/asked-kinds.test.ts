import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { expect, test } from 'vitest';
import { askedKinds } from '../../functions/managed-resources/deliver/requests.ts';
import { asObject, asString } from '../../shared/config/values.ts';
import { isCrd } from '../../shared/flux/custom-resources.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { entriesAt, textAt } from '../../shared/shapes.ts';
import { testDistribution } from '../made-distribution.ts';

const releases = await testDistribution();

test.skipIf(releases !== undefined)(testDataMissing, () => {});

test.skipIf(releases === undefined)(
  'asks every kind of the newest release that records requests, and no other',
  async () => {
    const distribution = openDistribution(releases ?? '');
    const [newest = ''] = await distribution.versions();
    const { files } = await distribution.release(newest);
    const recording = [...files.values()]
      .flat()
      .filter(isCrd)
      .filter(({ spec }) =>
        entriesAt(spec, 'versions').some((version) => {
          const status = ['schema', 'openAPIV3Schema', 'properties', 'status', 'properties'].reduce<unknown>(
            (inner, field) => asObject(inner)?.[field],
            version,
          );
          return Object.hasOwn(asObject(status) ?? {}, 'lastHandledReconcileAt');
        }),
      );
    const kinds = recording.map(({ spec }) => asString(textAt(spec, 'names', 'kind')) ?? '');
    expect([...askedKinds].sort()).toEqual(kinds.sort());
  },
);
