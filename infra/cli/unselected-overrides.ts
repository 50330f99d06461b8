import { documentsOf } from '../../shared/config/documents.ts';
import type { FluxConfigMap } from '../../shared/config/flux-config-map.ts';
import { isSelected } from '../../shared/config/selected.ts';
import type { ConfigIssue } from '../../shared/errors.ts';

export type Labels = Readonly<Record<string, string>>;

/** Returns the entries of `overrides.yaml` that select none of some Shoots; nothing is said about no Shoots. */
export function unselectedOverrides(fluxConfig: FluxConfigMap | undefined, shoots: readonly Labels[]): ConfigIssue[] {
  if (fluxConfig === undefined || shoots.length === 0) return [];
  const { entries } = documentsOf(fluxConfig).overrides ?? { entries: [] };
  return entries
    .filter(({ selector }) => !shoots.some((labels) => isSelected(labels, selector)))
    .map(({ place }) => ({
      object: place.object,
      path: place.path.replace(/config$/, 'selector'),
      message: 'selects no Shoot of the fleet; correct it, unless Shoots get such labels later',
    }));
}
