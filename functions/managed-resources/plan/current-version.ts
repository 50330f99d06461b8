import { isCrd } from '../../../shared/flux/custom-resources.ts';
import type { Release } from '../../../shared/flux/release.ts';
import { entriesAt, textAt } from '../../../shared/gardener/shapes.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';

/**
 * Returns an object that was applied with a former release in a version that this one has: an object that is pending
 * removal during an upgrade could not be applied any more, and would never leave.
 */
export function inCurrentVersion({ files }: Pick<Release, 'files'>, object: KubeObject): KubeObject {
  const [group, version] = object.apiVersion.split('/');
  const crd = [...files.values()]
    .flat()
    .find(
      (one) => isCrd(one) && textAt(one.spec, 'group') === group && textAt(one.spec, 'names', 'kind') === object.kind,
    );
  const versions = entriesAt(crd?.spec, 'versions');
  const stored = textAt(
    versions.find(({ storage }) => storage === true),
    'name',
  );
  const isKept = versions.some(({ name, served }) => name === version && served === true);
  return isKept || stored === undefined ? object : { ...object, apiVersion: `${group}/${stored}` };
}
