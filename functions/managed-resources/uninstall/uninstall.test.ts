import { expect, it } from 'vitest';
import { appliedFactory } from '../../../shared/gardener/testing.ts';
import { isAtWork, targetsOf } from './uninstall.ts';

const now = new Date('2026-01-02T03:04:05Z');

it.each([
  ['was not asked to stop', {}, true],
  ['was asked to stop just now', { deletionTimestamp: '2026-01-02T03:05:00Z', deletionGracePeriodSeconds: 60 }, true],
  [
    'has ten minutes to stop, as helm-controller does',
    { deletionTimestamp: '2026-01-02T03:12:45Z', deletionGracePeriodSeconds: 600 },
    false,
  ],
  ['is on a lost node', { deletionTimestamp: '2026-01-02T03:02:45Z', deletionGracePeriodSeconds: 0 }, false],
] as const)('a controller that %s: %o may begin a reconciliation: %s', (_, metadata, expected) => {
  expect(isAtWork({ name: 'a', ...metadata }, now)).toBe(expected);
});

it('sorts the recorded objects by how they are deleted', () => {
  const applied = appliedFactory({
    objects: {
      'shoot-flux-crds': ['Namespace//flux-system', 'CustomResourceDefinition.apiextensions.k8s.io//buckets.a.io'],
      'shoot-flux-controllers': [
        'ClusterRole.rbac.authorization.k8s.io//flux-view-flux-system',
        'Deployment.apps/flux-system/source-controller',
        'PersistentVolumeClaim/flux-system/source-controller',
        'Service/flux-system/source-controller',
      ],
      'shoot-flux-sync': ['Kustomization.kustomize.toolkit.fluxcd.io/flux-system/flux-system'],
    },
  });
  const { deployments, crds, others } = targetsOf(applied);
  expect(deployments).toMatchObject([{ namespace: 'flux-system', name: 'source-controller' }]);
  expect(crds).toMatchObject([
    { name: 'buckets.a.io', ref: 'CustomResourceDefinition.apiextensions.k8s.io//buckets.a.io' },
  ]);
  expect(others.map(({ resource, ref: _, ...name }) => [resource.plural, name])).toEqual([
    ['clusterroles', { name: 'flux-view-flux-system' }],
    ['persistentvolumeclaims', { namespace: 'flux-system', name: 'source-controller' }],
    ['services', { namespace: 'flux-system', name: 'source-controller' }],
  ]);
});
