import type { ManagedFields, ObjectMeta } from '../../../shared/kube/resource.ts';
import { HELM_RELEASE, KUSTOMIZE, MANAGED_BY, OPERATOR } from './foreign.ts';
import { union } from './managed-fields.ts';

/** Labels and annotations by which others recognise an object as theirs. */
const foreignLabels = [
  ...[KUSTOMIZE, OPERATOR].flatMap((group) => [`${group}/name`, `${group}/namespace`]),
  MANAGED_BY,
  'helm.sh/chart',
];
const foreignAnnotations = [
  HELM_RELEASE,
  'meta.helm.sh/release-namespace',
  'kubectl.kubernetes.io/last-applied-configuration',
];

/** Field managers of the tools that install Flux. */
const foreignManagers = /^(flux|flux-operator|flux-client-side-apply|kustomize-controller|helm|kubectl)/;

/**
 * Returns the metadata of a merge patch that makes an object ours: without the marks of others, and with the fields that
 * their tools have applied recorded as ours, so that an apply removes those that are not wanted.
 * @param extra annotations to set
 */
export function adoptedMetadata(
  { labels = {}, annotations = {}, managedFields = [] }: ObjectMeta,
  extra: Record<string, string>,
  ours: string,
): Record<string, unknown> {
  const nulls = (keys: string[], map: Record<string, string>) =>
    Object.fromEntries(keys.filter((key) => map[key] !== undefined).map((key) => [key, null]));
  const isTaken = ({ manager = '', subresource, operation }: ManagedFields) =>
    !subresource && (foreignManagers.test(manager) || (manager === ours && operation === 'Apply'));
  const taken = managedFields.filter(isTaken);
  const fieldsV1 = taken.reduce<Record<string, unknown>>((all, entry) => union(all, entry.fieldsV1), {});
  const joined = taken[0] && { ...taken[0], manager: ours, operation: 'Apply', fieldsV1 };
  const others = managedFields.filter((entry) => !isTaken(entry));
  return {
    labels: nulls(foreignLabels, labels),
    annotations: { ...nulls(foreignAnnotations, annotations), ...extra },
    ...(joined && { managedFields: [...others, joined] }),
  };
}
