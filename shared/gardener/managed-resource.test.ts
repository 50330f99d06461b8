import { expect, test } from 'vitest';
import { isCurrent, managedResourcePatch } from './managed-resource.ts';
import { secretReference } from './managed-resource-content.ts';
import { managedResourceFactory } from './testing.ts';

test('the patch of a ManagedResource holds for the version that was read alone', () => {
  const live = managedResourceFactory('shoot-flux-sync', 'former', { metadata: { resourceVersion: '42' } });
  expect(managedResourcePatch(live, 'next').metadata).toMatchObject({ resourceVersion: '42' });
});

test('it refers to the new Secret and to no former one, and leaves what others have noted', () => {
  const others = { 'resources.gardener.cloud/ignore': 'false' };
  const live = managedResourceFactory('shoot-flux-sync', 'former', {
    metadata: { annotations: { ...secretReference('former'), ...others } },
    keepObjects: true,
  });
  expect(managedResourcePatch(live, 'next')).toMatchObject({
    metadata: { annotations: { ...mapped(secretReference('former'), null), ...secretReference('next') } },
    spec: { secretRefs: [{ name: 'next' }], keepObjects: false },
  });
  expect(managedResourcePatch(live, 'next').metadata).not.toMatchObject({ annotations: others });
});

test('a ManagedResource that refers to the Secret already only loses what is wrong', () => {
  const live = managedResourceFactory('shoot-flux-sync', 'same', { keepObjects: true });
  expect(isCurrent(live, 'same')).toBe(false);
  expect(managedResourcePatch(live, 'same')).toMatchObject({
    metadata: { annotations: secretReference('same') },
    spec: { keepObjects: false },
  });
});

function mapped<V>(record: Record<string, unknown>, value: V): Record<string, V> {
  return Object.fromEntries(Object.keys(record).map((key) => [key, value]));
}
