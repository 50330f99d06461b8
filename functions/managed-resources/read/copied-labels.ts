import { isReservedForGardener } from '../../../shared/config/reserved-keys.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';

/** The annotation of the Go extension of stackitcloud on a referenced Secret whose labels its copy gets. */
const COPY_LABELS = 'gardener-extension-shoot-flux/copy-labels';

/** What Go reads as true. */
const yes = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);

/**
 * Returns the labels for the copy of a Secret; undefined unless the annotation asks for them. Labels of Gardener are left
 * out: in the shoot they would steer its resource-manager.
 */
export function copiedLabels({ metadata }: KubeObject): Record<string, string> | undefined {
  if (!yes.has(metadata.annotations?.[COPY_LABELS] ?? '')) return undefined;
  const labels = Object.entries(metadata.labels ?? {}).filter(([key]) => !isReservedForGardener(key));
  return labels.length === 0 ? undefined : Object.fromEntries(labels);
}
