import type { EffectiveConfig } from '../../../shared/config/types.ts';
import type { ObjectGroups, RenderInputs } from '../../../shared/flux/release.ts';
import { objectGroups } from '../../../shared/gardener/groups.ts';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { type PlanInputs, type RenderedObjects, type Synced, syncInputs } from './plan.ts';
import { planSyncObjects } from './sync-objects.ts';

/**
 * Renders the objects that the configuration asks for. Not part of `makePlan`, because only a difference from these objects
 * makes a run read the former content.
 * @throws ConfigError as `objectGroups` does
 */
export function renderObjects(inputs: PlanInputs): RenderedObjects {
  const components = wantedComponents(inputs);
  return { components, groups: groupsWith(components, inputs.render) };
}

/** Adds the former components where objects are pending removal. @throws ConfigError as `objectGroups` does */
export function withFormerComponents(inputs: PlanInputs, rendered: RenderedObjects, synced: Synced): RenderedObjects {
  const components = neededComponents(inputs, rendered, synced);
  if (components.length === rendered.components.length) return rendered;
  return { components, groups: groupsWith(components, inputs.render) };
}

function groupsWith(components: string[], render: RenderInputs): ObjectGroups {
  return objectGroups({ ...render, config: withComponents(render.config, components) });
}

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
