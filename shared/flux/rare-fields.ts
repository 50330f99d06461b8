import { asObject } from '../config/values.ts';
import type { KubeObject } from '../kube/resource.ts';

/** Fields of sources and Kustomizations that no rule of a CRD is about. Most Shoots have no others. */
const PLAIN = new Set(
  'url ref interval timeout suspend secretRef path prune sourceRef targetNamespace wait force retryInterval dependsOn patches postBuild decryption'.split(
    ' ',
  ),
);

/** True for an object with fields that rules of its CRD may be about: only then is their code loaded. */
export function hasRareFields(object: KubeObject | undefined): boolean {
  return Object.keys(asObject(object?.spec) ?? {}).some((field) => !PLAIN.has(field));
}
