import { withShoot } from '../../../shared/gardener/shoot-client.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { type ForeignFlux, foreignFlux } from '../plan/foreign.ts';
import type { Run } from '../run.ts';

/** The Flux that was in the shoot before us. */
export interface ExistingFlux {
  /** Version of the Flux that is installed; absent: there is none, or its version is unknown. */
  liveVersion?: string | undefined;
  /** Set: others manage it. */
  foreign?: ForeignFlux | undefined;
  /** False: the flux namespace existed before us and is in no ManagedResource. */
  ownsNamespace: boolean;
}

/**
 * Reads the Flux of a shoot.
 * @param ownsNamespace undefined: the shoot says it; the namespace is ours where it does not exist yet
 * @returns undefined while the control plane holds no kubeconfig
 */
export function readInstalledFlux(
  run: Run,
  namespace: string,
  ownsNamespace: boolean | undefined,
): Promise<ExistingFlux | undefined> {
  return withShoot(run, async (shoot) => ({
    ...(await installedFlux(shoot)),
    ownsNamespace: ownsNamespace ?? !(await hasNamespace(shoot, namespace)),
  }));
}

/** Reads the Flux that is in a shoot now; nothing where there is none. */
export async function installedFlux(shoot: KubeClient): Promise<Pick<ExistingFlux, 'liveVersion' | 'foreign'>> {
  const name = 'gitrepositories.source.toolkit.fluxcd.io';
  const crd = await shoot.find(resources.customResourceDefinitions, { name }, { metadataOnly: true });
  if (crd === undefined) return {};
  return { liveVersion: crd.metadata.labels?.[VERSION_LABEL], foreign: foreignFlux(crd.metadata) };
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
