import { quote } from '../../../shared/config/quote.ts';
import { withShoot } from '../../../shared/gardener/shoot-client.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { type ObjectMeta, resources } from '../../../shared/kube/resource.ts';
import type { Run } from '../run.ts';

/** The Flux that was in the shoot before us. */
export interface ExistingFlux {
  /** Version of the Flux that is installed; absent: there is none, or its version is unknown. */
  liveVersion?: string | undefined;
  /** Set: others manage it; the object or tool, for sentences. */
  foreign?: string | undefined;
  /** False: the flux namespace existed before us and is in no ManagedResource. */
  ownsNamespace: boolean;
}

/**
 * Reads the Flux of a shoot; undefined while the control plane holds no kubeconfig.
 * @param ownsNamespace undefined: the shoot says it; the namespace is ours where it does not exist yet
 */
export function readInstalledFlux(
  run: Run,
  namespace: string,
  ownsNamespace: boolean | undefined,
): Promise<ExistingFlux | undefined> {
  return withShoot(run, async (shoot) => {
    const flux = await installedFlux(shoot);
    if (ownsNamespace !== undefined) return { ...flux, ownsNamespace };
    const live = await shoot.find(resources.namespaces, { name: namespace }, { metadataOnly: true });
    // The successor of one that is being deleted is ours, as after a removal of the extension.
    return { ...flux, ownsNamespace: live === undefined || live.metadata.deletionTimestamp !== undefined };
  });
}

/** Reads the Flux that is in a shoot now; nothing where there is none. */
export async function installedFlux(shoot: KubeClient): Promise<Pick<ExistingFlux, 'liveVersion' | 'foreign'>> {
  const crd = await shoot.find(resources.customResourceDefinitions, { name: MARKED }, { metadataOnly: true });
  if (crd === undefined) return {};
  return { liveVersion: crd.metadata.labels?.[VERSION_LABEL], foreign: foreignFlux(crd.metadata) };
}

/** Reads the release of each CRD of Flux in the shoot; undefined while the control plane holds no kubeconfig. */
export function readCrdVersions(run: Run): Promise<string[] | undefined> {
  return withShoot(run, async (shoot) => {
    const options = { labelSelector: 'app.kubernetes.io/part-of=flux', metadataOnly: true };
    const { items } = await shoot.list(resources.customResourceDefinitions, options);
    return items.flatMap(({ metadata }) => metadata.labels?.[VERSION_LABEL] ?? []);
  });
}

const VERSION_LABEL = 'app.kubernetes.io/version';

/** The CRD whose marks show that others manage Flux. */
export const MARKED = 'gitrepositories.source.toolkit.fluxcd.io';

/** The marks of others: groups of labels of kustomize-controller and flux-operator, and label and annotation of Helm. */
export const KUSTOMIZE = 'kustomize.toolkit.fluxcd.io';
export const OPERATOR = 'fluxcd.controlplane.io';
export const MANAGED_BY = 'app.kubernetes.io/managed-by';
export const HELM_RELEASE = 'meta.helm.sh/release-name';

/**
 * Reads from the CRD of GitRepositories which object or tool manages the Flux of a shoot (docs/flux-facts.md). The two
 * former extensions, like `flux install`, leave no such mark: their Flux is adopted.
 */
export function foreignFlux({ labels = {}, annotations = {} }: Omit<ObjectMeta, 'name'>): string | undefined {
  const named = (group: string) => `${labels[`${group}/namespace`] ?? ''}/${labels[`${group}/name`] ?? ''}`;
  const by = labels[MANAGED_BY];
  const release = annotations[HELM_RELEASE];
  if (labels[`${OPERATOR}/name`] !== undefined) return `FluxInstance ${named(OPERATOR)} of flux-operator`;
  if (by === 'flux-operator') return by;
  if (labels[`${KUSTOMIZE}/name`] !== undefined) {
    return `Kustomization ${named(KUSTOMIZE)}, as flux bootstrap creates it`;
  }
  if (release !== undefined) return `Helm release ${quote(release)}`;
  return by === undefined || by === 'Helm' ? by : quote(by);
}

/** The sentence for the users of a Shoot whose Flux is left alone. */
export function leftAlone(manager: string): string {
  return `Flux in this Shoot is managed by ${manager}, so the extension changes nothing there; set adopt to true in the configuration to take it over, or remove the extension from the Shoot.`;
}
