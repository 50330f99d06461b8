import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { withShoot } from '../../../shared/gardener/shoot-client.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { SYSTEM_NAMESPACES } from '../../../shared/kube/system-namespaces.ts';
import type { Scope } from '../plan/scope.ts';
import type { Run } from '../run.ts';
import type { ControlPlane } from './control-plane.ts';

/** The Flux that was in the shoot before us. */
export interface ExistingFlux {
  /** Version of the Flux that is installed; absent: there is none, or its version is unknown. */
  liveVersion?: string | undefined;
  /** False: the flux namespace existed before us and is in no ManagedResource. */
  ownsNamespace: boolean;
}

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
  const found = await withShoot(run, async (shoot) => {
    const liveVersion = await installedVersion(shoot);
    return { liveVersion, ownsNamespace: recorded ?? (mayOwn && !(await hasNamespace(shoot, fluxNamespace))) };
  });
  return found ?? assumed;
}

/** True when Flux was released and is to be managed again. */
function isAdopting({ previous, isBootstrapped, live }: ControlPlane, scope: Scope): boolean {
  const wasDeliveredDirectly = previous?.delivery === 'Direct' && previous.managedResources[names.crds] !== undefined;
  return isBootstrapped && scope.install && !live.has(names.crds) && !wasDeliveredDirectly;
}

async function installedVersion(shoot: KubeClient): Promise<string | undefined> {
  const name = 'gitrepositories.source.toolkit.fluxcd.io';
  const crd = await shoot.find(resources.customResourceDefinitions, { name }, { metadataOnly: true });
  return crd?.metadata.labels?.[VERSION_LABEL];
}

/**
 * Reads the release of each CRD of Flux that is in the shoot.
 * @returns undefined while the control plane holds no kubeconfig
 */
export function readCrdVersions(run: Run): Promise<string[] | undefined> {
  return withShoot(run, async (shoot) => {
    const options = { labelSelector: 'app.kubernetes.io/part-of=flux', metadataOnly: true };
    const { items } = await shoot.list(resources.customResourceDefinitions, options);
    return items.flatMap(({ metadata }) => metadata.labels?.[VERSION_LABEL] ?? []);
  });
}

const VERSION_LABEL = 'app.kubernetes.io/version';

/** A namespace that is being deleted does not count: its successor is ours, as after a removal of the extension. */
async function hasNamespace(shoot: KubeClient, name: string): Promise<boolean> {
  const namespace = await shoot.find(resources.namespaces, { name }, { metadataOnly: true });
  return namespace !== undefined && namespace.metadata.deletionTimestamp === undefined;
}
