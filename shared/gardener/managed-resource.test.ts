import { expect, test } from 'vitest';
import { isCurrent, managedResourcePatch, secretReference } from './managed-resource.ts';
import { managedResourceFactory } from './testing.ts';

test('patches only the version that was read', () => {
  const live = managedResourceFactory('shoot-flux-sync', 'former', { metadata: { resourceVersion: '42' } });
  expect(managedResourcePatch(live, 'next').metadata).toMatchObject({ resourceVersion: '42' });
});

test('refers to the new Secret only, and keeps the annotations of others', () => {
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

test('corrects a ManagedResource that refers to the right Secret', () => {
  const live = managedResourceFactory('shoot-flux-sync', 'same', { keepObjects: true });
  expect(isCurrent(live, 'same')).toBe(false);
  expect(managedResourcePatch(live, 'same')).toMatchObject({
    metadata: { annotations: secretReference('same') },
    spec: { keepObjects: false },
  });
});

test('gives a ManagedResource back to the resource-manager of the shoot', () => {
  const { spec, ...rest } = managedResourceFactory('shoot-flux-sync', 'same', { metadata: {} });
  const live = { ...rest, spec: { ...spec, class: 'seed' } };
  expect([live, { ...live, spec: { ...spec, class: '' } }].map((one) => isCurrent(one, 'same'))).toEqual([false, true]);
  expect(managedResourcePatch(live, 'same')).toMatchObject({ spec: { class: null } });
  expect(managedResourcePatch({ ...rest, spec }, 'same').spec).not.toHaveProperty('class');
});

function mapped<V>(record: Record<string, unknown>, value: V): Record<string, V> {
  return Object.fromEntries(Object.keys(record).map((key) => [key, value]));
}
