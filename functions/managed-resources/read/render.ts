import type { ObjectGroups, RenderInputs } from '../../../shared/flux/release.ts';
import { objectGroups } from '../../../shared/gardener/groups.ts';
import { neededComponents, wantedComponents, withComponents } from '../plan/components.ts';
import type { PlanInputs, RenderedObjects, Synced } from '../plan/inputs.ts';

/**
 * Renders the objects that the configuration asks for. Not part of `makePlan`, because only a difference from these objects
 * makes a run read the former content; and patches are applied in turns with others.
 * @throws ConfigError as `objectGroups` does
 */
export async function renderObjects(inputs: PlanInputs): Promise<RenderedObjects> {
  const components = wantedComponents(inputs);
  return { components, groups: await groupsWith(components, inputs.render) };
}

/** Adds the former components where objects are pending removal. @throws ConfigError as `objectGroups` does */
export async function withFormerComponents(
  inputs: PlanInputs,
  rendered: RenderedObjects,
  synced: Synced,
): Promise<RenderedObjects> {
  const components = neededComponents(inputs, rendered, synced);
  if (components.length === rendered.components.length) return rendered;
  return { components, groups: await groupsWith(components, inputs.render) };
}

function groupsWith(components: string[], render: RenderInputs): Promise<ObjectGroups> {
  return objectGroups({ ...render, config: withComponents(render.config, components) });
}
