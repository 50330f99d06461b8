import type { KubeObject } from '../../../shared/kube/resource.ts';

/** The description of an operation while the resource-manager applies its objects. */
export function applying(fluxVersion: string): string {
  return `Applying Flux ${fluxVersion} and its configuration.`;
}

export const NO_KUBECONFIG = 'The control plane holds no kubeconfig for the shoot yet.';

/** Why an object that the configuration no longer has stays in the shoot. */
export const NOT_OURS =
  'it carries no mark of ours any more, so a user has replaced it; delete it in the shoot if nothing needs it.';

/** Why an object of the configuration is not applied yet. */
export function isBeingDeleted({ kind, metadata: { namespace, name } }: KubeObject): string {
  return `${kind} ${namespace}/${name} is being deleted in the shoot and will be recreated afterwards. If this persists, check that the Flux controllers are running.`;
}
