import { expect, test } from 'vitest';
import { rolesFor } from './install.ts';
import { object } from './testing.ts';

const role = object('ClusterRole', 'crd-controller');
const binding = (name: string) =>
  object('ClusterRoleBinding', `bind-${name}`, {
    roleRef: { kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name: 'source-controller', namespace: 'flux-system' }],
  });

test('appends the namespace to names, and renames only roles of the release in bindings', () => {
  expect(rolesFor([role, binding('crd-controller'), binding('cluster-admin')], 'gitops')).toMatchObject([
    { metadata: { name: 'crd-controller-gitops' } },
    { metadata: { name: 'bind-crd-controller-gitops' }, roleRef: { name: 'crd-controller-gitops' } },
    { metadata: { name: 'bind-cluster-admin-gitops' }, roleRef: { name: 'cluster-admin' } },
  ]);
});

test('puts subjects into the namespace', () => {
  const subjects = (namespace: string) => rolesFor([binding('x')], namespace)[0]?.subjects;
  expect(subjects('gitops')).toMatchObject([{ name: 'source-controller', namespace: 'gitops' }]);
  expect(subjects('flux-system')).toMatchObject([{ namespace: 'flux-system' }]);
});
