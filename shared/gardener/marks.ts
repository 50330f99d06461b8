import type { KubeObject } from '../kube/resource.ts';
import { KEEP_OBJECT } from './managed-resource.ts';

const SKIP_HEALTH_CHECK = 'resources.gardener.cloud/skip-health-check';

/**
 * Keeps an object in the shoot when it leaves its ManagedResource. Must not be combined with
 * `resources.gardener.cloud/ignore`: the resource-manager reads `keep-object` from the live object and would then never
 * write it to an existing Namespace.
 */
export function withKeepObject(object: KubeObject): KubeObject {
  return annotated(object, KEEP_OBJECT);
}

/** Marks objects as not counting for the Shoot's health. @param shootHealth true: they count, and get no mark */
export function withHealthMark(objects: KubeObject[], shootHealth: boolean): KubeObject[] {
  return shootHealth ? objects : objects.map((object) => annotated(object, SKIP_HEALTH_CHECK));
}

/** Sets an annotation of the resource-manager to `true`. */
export function annotated(object: KubeObject, annotation: string): KubeObject {
  const annotations = { ...object.metadata.annotations, [annotation]: 'true' };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
