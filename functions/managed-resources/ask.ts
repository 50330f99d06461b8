import { makePlan, type Plan } from './plan/plan.ts';
import type { Obstacle } from './plan/scope.ts';
import { type Configuration, type Layers, readConfiguration } from './read/configuration.ts';
import type { ControlPlane } from './read/control-plane.ts';
import { type PlanParts, readPlanParts } from './read/plan-parts.ts';
import type { Run } from './run.ts';

/** What users and operators ask for, and the plan that follows from it or the obstacle that keeps it from being made. */
export type Asked = { layers: Layers; controlPlane: ControlPlane; configuration: Configuration | Obstacle } & (
  | { plan: Plan; parts: PlanParts; configuration: Configuration }
  | { plan?: undefined; obstacle: Obstacle }
);

/** Reads everything that the layers name, and plans. @param controlPlane with the deletion policy that they write */
export async function ask(run: Run, controlPlane: ControlPlane, layers: Layers): Promise<Asked> {
  const configuration = await readConfiguration(run, controlPlane, layers);
  const known = { layers, controlPlane };
  if (configuration.type !== 'configuration') return { ...known, configuration, obstacle: configuration };
  const parts = await readPlanParts(run, controlPlane, configuration);
  if (parts.type !== 'plan parts') return { ...known, configuration, obstacle: parts };
  return { ...known, configuration, parts, plan: makePlan(parts.inputs, parts.rendered, parts.synced) };
}
