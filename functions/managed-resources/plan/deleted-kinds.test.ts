import { expect, test } from 'vitest';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { appliedFactory } from '../../../shared/gardener/testing.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { crdsToDelete, formerControllers } from './deleted-kinds.ts';
import type { Plan } from './plan.ts';

const refOf = (name: string) => `CustomResourceDefinition.apiextensions.k8s.io//${name}`;
const crd = (name: string): KubeObject => ({
  ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name } },
});
const files = new Map(
  Object.entries({
    'source-controller': ['gitrepositories'],
    'helm-controller': ['helmreleases'],
    'image-reflector-controller': ['imagerepositories', 'imagepolicies'],
    'image-automation-controller': ['imageupdateautomations'],
  }).map(([component, crds]) => [component, crds.map(crd)]),
);
const all = [...files.values()].flat();

/** A plan with these components, after one with all of them. */
function planned(...components: string[]): Pick<Plan, 'record' | 'contents' | 'fluxRelease'> {
  const content = components.flatMap((component) => files.get(component) ?? []);
  const objects = { [names.crds]: [...all, crd('dropped')].map(({ metadata }) => refOf(metadata.name)) };
  return {
    record: appliedFactory({ components, objects }),
    contents: new Map([[names.crds, content]]),
    fluxRelease: { version: 'v2.9.99', digest: '', files },
  };
}

test('kinds that an installed component reads stay with it', () => {
  const deleted = crdsToDelete(planned('source-controller', 'image-automation-controller'));
  expect(deleted).toEqual([refOf('helmreleases'), refOf('dropped')]);
  expect(crdsToDelete(planned('source-controller', 'helm-controller'))).toEqual(
    ['imagerepositories', 'imagepolicies', 'imageupdateautomations', 'dropped'].map(refOf),
  );
  // helm-controller reads sources: without their kinds, it would not start any more.
  expect(crdsToDelete(planned('helm-controller'))).not.toContain(refOf('gitrepositories'));
});

test('only the controllers of these kinds are waited for, and all former ones for a kind that no component has', () => {
  const plan = planned('source-controller', 'kustomize-controller', 'notification-controller', 'source-watcher');
  expect(formerControllers([refOf('helmreleases')], plan)).toEqual(['helm-controller']);
  expect(formerControllers([refOf('helmreleases'), refOf('dropped')], plan)).toEqual([
    'helm-controller',
    'image-reflector-controller',
    'image-automation-controller',
  ]);
});
