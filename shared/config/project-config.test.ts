import { expect, test } from 'vitest';
import type { ManagedFields } from '../kube/resource.ts';
import { fluxStatusSubscription } from './project-config.ts';

const { isNews, wakes, keys } = fluxStatusSubscription;
const data = { 'f:data': { 'f:bar': {} } };
const map = (...managedFields: ManagedFields[]) => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap' },
  metadata: { namespace: 'garden-foo', name: 'flux-status', managedFields },
});
const own: ManagedFields = { manager: 'shoot-flux-project-status', operation: 'Update', time: '1', fieldsV1: data };
const edit: ManagedFields = { manager: 'kubectl-edit', operation: 'Update', time: '1', fieldsV1: data };

test('what we write into flux-status wakes no function, and neither does a label or annotation', () => {
  const labels = { 'f:metadata': { 'f:annotations': { 'f:note': {} } } };
  const place = { ...own, manager: 'shoot-flux-managed-resources' };
  for (const quiet of [map(), map(own), map(own, place), map(own, { ...edit, fieldsV1: labels })]) {
    expect(isNews?.(quiet)).toBe(false);
  }
});

test('our label from others is news: they have created it for us, or given us theirs', () => {
  const labels = { 'f:metadata': { 'f:labels': { 'f:app.kubernetes.io/managed-by': {} } } };
  const labelled = { ...edit, manager: 'kubectl-label', fieldsV1: labels };
  expect(isNews?.(map({ ...edit, fieldsV1: {} }))).toBe(false);
  expect(isNews?.(map(labelled))).toBe(true);
  expect(wakes(map(labelled, own))).toEqual(wakes(map(labelled)));
  expect(isNews?.(map({ ...own, fieldsV1: labels }, own))).toBe(false);
});

test('each edit of others is news once, and our corrections of it are none', () => {
  expect(isNews?.(map(own, edit))).toBe(true);
  const left = { ...edit, fieldsV1: { 'f:data': { 'f:note': {} } } };
  expect(wakes(map({ ...own, time: '2' }, left))).toEqual(wakes(map(own, edit)));
  expect(wakes(map(own, { ...edit, time: '2' }))).not.toEqual(wakes(map(own, edit)));
  expect(keys(map(), 'garden')).toEqual([{ cluster: 'garden', namespace: 'garden-foo', name: 'flux-status' }]);
});
