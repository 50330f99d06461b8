import type { KubeObject } from '../kube/resource.ts';
import type { EffectiveConfig } from './types.ts';
import { asObject } from './values.ts';

/** What former versions wrote into the Kustomization of `flux-config`, although nobody had asked for it. */
export const FORMER_TARGET_NAMESPACE = 'default';

/** `kustomizationTargetNamespace`: each object stays in its own namespace, also where a former version moved it. */
export const NO_TARGET_NAMESPACE = 'none';

/** Returns the `targetNamespace` of a Kustomization. */
export function targetNamespaceOf(kustomization: KubeObject | undefined): string | undefined {
  const { targetNamespace } = asObject(kustomization?.spec) ?? {};
  return typeof targetNamespace === 'string' && targetNamespace !== '' ? targetNamespace : undefined;
}

/** True where the Kustomization comes from the keys of `flux-config`, and no layer says anything about its `targetNamespace`. */
export function isTargetNamespaceOpen({ kustomization, origins }: EffectiveConfig): boolean {
  const isOfKeys = kustomization !== undefined && origins.kustomization === undefined;
  return isOfKeys && origins['kustomization.spec.targetNamespace'] === undefined;
}

/** Returns the configuration of a Shoot that keeps the former `targetNamespace`; one that decides about it stays as it is. */
export function withFormerNamespace(config: EffectiveConfig): EffectiveConfig {
  const { kustomization } = config;
  if (kustomization === undefined || !isTargetNamespaceOpen(config)) return config;
  const spec = { ...asObject(kustomization.spec), targetNamespace: FORMER_TARGET_NAMESPACE };
  return { ...config, kustomization: { ...kustomization, spec } };
}

/** What a user can do about a `targetNamespace` that nobody has written. */
export const TARGET_NAMESPACE_CHOICE =
  `set kustomizationTargetNamespace in ConfigMap flux-config to ${FORMER_TARGET_NAMESPACE} to keep it for good, ` +
  `or to ${NO_TARGET_NAMESPACE} to have each object in its own namespace, for which Flux deletes the objects in ` +
  `namespace ${FORMER_TARGET_NAMESPACE} and creates them anew`;
