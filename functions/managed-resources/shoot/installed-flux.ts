import { quote } from '../../../shared/config/quote.ts';
import { withShoot } from '../../../shared/gardener/shoot-client.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { type ObjectMeta, resources } from '../../../shared/kube/resource.ts';
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
 * Reads the Flux of a shoot; undefined while the control plane holds no kubeconfig.
 * @param ownsNamespace undefined: the shoot says it; the namespace is ours where it does not exist yet
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

/** Reads the release of each CRD of Flux in the shoot; undefined while the control plane holds no kubeconfig. */
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

/** Who manages a Flux that the extension has not installed. */
export interface ForeignFlux {
  by: 'flux bootstrap' | 'flux-operator' | 'Helm' | 'other';
  /** The object or tool that manages it, for sentences. */
  manager: string;
}

/** The marks of others: groups of labels of kustomize-controller and flux-operator, and label and annotation of Helm. */
export const KUSTOMIZE = 'kustomize.toolkit.fluxcd.io';
export const OPERATOR = 'fluxcd.controlplane.io';
export const MANAGED_BY = 'app.kubernetes.io/managed-by';
export const HELM_RELEASE = 'meta.helm.sh/release-name';

/**
 * Reads from the CRD of GitRepositories who manages the Flux of a shoot (docs/flux-facts.md). The two former extensions,
 * like `flux install`, leave no such mark: their Flux is adopted.
 */
export function foreignFlux({
  labels = {},
  annotations = {},
}: Pick<ObjectMeta, 'labels' | 'annotations'>): ForeignFlux | undefined {
  const by = labels[MANAGED_BY];
  const named = (group: string) => `${labels[`${group}/namespace`] ?? ''}/${labels[`${group}/name`] ?? ''}`;
  if (labels[`${OPERATOR}/name`] !== undefined) {
    return { by: 'flux-operator', manager: `FluxInstance ${named(OPERATOR)} of flux-operator` };
  }
  if (by === 'flux-operator') return { by: 'flux-operator', manager: 'flux-operator' };
  if (labels[`${KUSTOMIZE}/name`] !== undefined) {
    return { by: 'flux bootstrap', manager: `Kustomization ${named(KUSTOMIZE)}, as flux bootstrap creates it` };
  }
  const release = annotations[HELM_RELEASE];
  if (by === 'Helm' || release !== undefined) {
    return { by: 'Helm', manager: release === undefined ? 'Helm' : `Helm release ${quote(release)}` };
  }
  return by === undefined ? undefined : { by: 'other', manager: quote(by) };
}

/** The sentence for the users of a Shoot whose Flux is left alone. */
export function leftAlone({ manager }: ForeignFlux): string {
  return `Flux in this Shoot is managed by ${manager}, so the extension changes nothing there; set adopt to true in the configuration to take it over, or remove the extension from the Shoot.`;
}
