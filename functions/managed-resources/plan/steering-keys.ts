import type { KubeObject, ObjectMeta } from '../../../shared/kube/resource.ts';

/** Of the resource-manager itself, or ours: these steer nothing that matters to an object that leaves. */
const harmless = [
  'resources.gardener.cloud/description',
  'resources.gardener.cloud/origin',
  'resources.gardener.cloud/skip-health-check',
];

/**
 * True for an annotation or label that makes the resource-manager treat an object differently. With `ignore` or a `mode`
 * it would never write the suspension of an object that leaves, and delete it all the same.
 */
function isSteering(key: string): boolean {
  return /^(?:[^/]*\.)?gardener\.cloud\//.test(key) && !harmless.includes(key);
}

/** Returns the object without the keys that steer the resource-manager. */
export function withoutSteeringKeys(object: KubeObject): KubeObject {
  const { annotations, labels, ...rest } = object.metadata;
  const metadata: ObjectMeta = {
    ...rest,
    ...(annotations && { annotations: withoutKeys(annotations) }),
    ...(labels && { labels: withoutKeys(labels) }),
  };
  return { ...object, metadata };
}

/** Returns the merge patch that removes these keys from a live object; undefined when it has none. */
export function steeringKeysPatch({ metadata }: KubeObject): Record<string, unknown> | undefined {
  const removed = { annotations: nulls(metadata.annotations), labels: nulls(metadata.labels) };
  const parts = Object.entries(removed).filter(([, part]) => Object.keys(part).length > 0);
  return parts.length === 0 ? undefined : Object.fromEntries(parts);
}

function withoutKeys(map: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !isSteering(key)));
}

function nulls(map: Record<string, string> = {}): Record<string, null> {
  const keys = Object.keys(map).filter((key) => isSteering(key));
  return Object.fromEntries(keys.map((key) => [key, null]));
}
