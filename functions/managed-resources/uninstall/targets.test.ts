import { expect, it } from 'vitest';
import { appliedFactory } from '../../../shared/gardener/testing.ts';
import { targetsOf } from './uninstall.ts';

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
