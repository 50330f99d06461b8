import type { PatchTarget } from '../../config/types.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { labelSelector } from './label-selector.ts';
import { targetPattern } from './pattern.ts';

/** Returns the filter for the objects that a target selects, as kustomize selects them. @throws PatchProblem */
export function selectorOf(target: PatchTarget): (object: KubeObject) => boolean {
  const patterns = (['group', 'version', 'kind', 'name', 'namespace'] as const).flatMap((field) => {
    const pattern = target[field];
    return isAny(pattern) ? [] : [{ field, matches: once(targetPattern(`target.${field}`, pattern)) }];
  });
  const { labelSelector: labels, annotationSelector: annotations } = target;
  const hasLabels = isAny(labels) ? undefined : labelSelector('target.labelSelector', labels);
  const hasAnnotations = isAny(annotations) ? undefined : labelSelector('target.annotationSelector', annotations);
  return (object) =>
    patterns.every(({ field, matches }) => matches(identityOf(object)[field])) &&
    (hasLabels?.(object.metadata.labels ?? {}) ?? true) &&
    (hasAnnotations?.(object.metadata.annotations ?? {}) ?? true);
}

/** Returns whether a pattern matches a text, which is read once: most objects have the same namespace. */
function once(pattern: RegExp): (text: string) => boolean {
  const known = new Map<string, boolean>();
  return (text) => {
    const matches = known.get(text) ?? pattern.test(text);
    known.set(text, matches);
    return matches;
  };
}

/** An empty field selects everything. */
function isAny(pattern: string | undefined): pattern is undefined | '' {
  return pattern === undefined || pattern === '';
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
