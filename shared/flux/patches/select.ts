import type { PatchTarget } from '../../config/types.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { labelSelector } from './label-selector.ts';
import { targetPattern } from './pattern.ts';

/** Returns the filter for the objects that a target selects, as kustomize selects them. @throws PatchProblem */
export function selectorOf(target: PatchTarget): (object: KubeObject) => boolean {
  const patterns = (['group', 'version', 'kind', 'name', 'namespace'] as const).flatMap((field) => {
    const pattern = target[field];
    return pattern === undefined ? [] : [{ field, pattern: targetPattern(`target.${field}`, pattern) }];
  });
  const { labelSelector: labels, annotationSelector: annotations } = target;
  const hasLabels = labels === undefined ? undefined : labelSelector('target.labelSelector', labels);
  const hasAnnotations =
    annotations === undefined ? undefined : labelSelector('target.annotationSelector', annotations);
  return (object) =>
    patterns.every(({ field, pattern }) => pattern.test(identityOf(object)[field])) &&
    (hasLabels?.(object.metadata.labels ?? {}) ?? true) &&
    (hasAnnotations?.(object.metadata.annotations ?? {}) ?? true);
}

/** Cluster-scoped objects have no namespace: only the empty pattern, or none, selects them. */
function identityOf({
  apiVersion,
  kind,
  metadata,
}: KubeObject): Record<'group' | 'version' | 'kind' | 'name' | 'namespace', string> {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  return { group, version, kind, name: metadata.name, namespace: metadata.namespace ?? '_non_namespaceable_' };
}
