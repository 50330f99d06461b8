import { quote } from '../../../shared/config/quote.ts';
import type { ObjectMeta } from '../../../shared/kube/resource.ts';

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
