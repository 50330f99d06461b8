import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { SYSTEM_NAMESPACES } from '../../../shared/kube/system-namespaces.ts';
import type { Scope } from '../plan/scope.ts';
import type { Run } from '../run.ts';
import type { ControlPlane } from './control-plane.ts';
import type { ExistingFlux } from './installed-flux.ts';

/**
 * Asks the shoot whether it has a Flux already. A Shoot that is being created has none, and a recorded answer is not
 * asked for again unless a Flux that was released is adopted. Without a kubeconfig the shoot counts as empty.
 */
export async function detectExistingFlux(
  run: Run,
  controlPlane: ControlPlane,
  scope: Scope,
  fluxNamespace: string,
): Promise<ExistingFlux> {
  const { previous } = controlPlane;
  const mayOwn = !SYSTEM_NAMESPACES.includes(fluxNamespace);
  const recorded = previous?.namespace === fluxNamespace ? previous.ownsNamespace : undefined;
  const isCreating = run.cluster.spec.shoot.status?.lastOperation?.type === 'Create';
  const assumed = { ownsNamespace: recorded ?? mayOwn };
  if (!isAdopting(controlPlane, scope) && (recorded !== undefined || isCreating)) return assumed;
  // Loaded on demand, because most runs have asked before.
  const { readInstalledFlux } = await import('../on-demand.ts');
  return (await readInstalledFlux(run, fluxNamespace, recorded ?? (mayOwn ? undefined : false))) ?? assumed;
}

/** True when Flux was released and is to be managed again. */
function isAdopting({ previous, isBootstrapped, live }: ControlPlane, scope: Scope): boolean {
  const wasDeliveredDirectly = previous?.delivery === 'Direct' && previous.managedResources[names.crds] !== undefined;
  return isBootstrapped && scope.install && !live.has(names.crds) && !wasDeliveredDirectly;
}
