import { fluxConfigObject } from '../../../shared/config/flux-config-map.ts';
import { projectLayers } from '../../../shared/config/project-layers.ts';
import type { ConfigInputs } from '../../../shared/config/types.ts';
import { type ConfigError, issueText } from '../../../shared/errors.ts';

/**
 * Returns whether `flux-config` has an issue that `keys`, which reads it alone, does not report on the ConfigMap: one of
 * the merged layers, of the facts of this Shoot, or of the releases.
 */
export function showsOnlyInShoots({ issues }: ConfigError, { fluxConfig }: ConfigInputs): boolean {
  if (fluxConfig === undefined) return false;
  const object = fluxConfigObject(fluxConfig.namespace);
  // A refusal by the policy has a rule, and is reported on the ConfigMap.
  const suspects = issues.filter((issue) => issue.object === object && issue.rule === undefined);
  if (suspects.length === 0) return false;
  const reported = new Set(projectLayers(fluxConfig, undefined).issues.map(issueText));
  return suspects.some((issue) => !reported.has(issueText(issue)));
}
