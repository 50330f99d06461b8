import type { EffectiveConfig } from '../../../shared/config/types.ts';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { type PlanInputs, type RenderedObjects, type Synced, syncInputs } from './inputs.ts';
import { planSyncObjects } from './sync-objects.ts';

/** Returns the components to install. Out of scope, Flux keeps those that it was installed with. */
export function wantedComponents({ scope, previous, render }: PlanInputs): string[] {
  const configured = render.config.flux.components;
  return scope.install ? configured : (previous?.components ?? configured);
}

/**
 * Returns the components to install, and while objects are pending removal also the former ones: their controllers have to
 * remove the finalizers.
 */
export function neededComponents(inputs: PlanInputs, rendered: RenderedObjects, synced: Synced): string[] {
  const { previous, live, render } = inputs;
  const { components } = rendered;
  const { objects, pendingRemoval } = planSyncObjects({ ...syncInputs(inputs, rendered), ...synced });
  const isRemoving = pendingRemoval.length > 0 || (objects.length === 0 && live.has(names.sync));
  if (!isRemoving) return components;
  const former = previous?.components.filter((component) => render.release.files.has(component)) ?? [];
  return [...new Set([...components, ...former])];
}

/** Returns the configuration with these components instead of its own. */
export function withComponents(config: EffectiveConfig, components: string[]): EffectiveConfig {
  return { ...config, flux: { ...config.flux, components } };
}
