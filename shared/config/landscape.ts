import { ConfigError } from '../errors.ts';
import { DEFAULTS, defaultsIssues, isSet } from './defaults.ts';
import { effectiveConfig } from './effective-config.ts';
import { policySchema } from './policy/policy.ts';
import { landscapeRolloutSchema } from './rollout.ts';
import { schemaIssues } from './schema.ts';
import type { Landscape } from './types.ts';

/** The names of the policy and of the rollout in errors. */
const POLICY = "the landscape's policy";
const ROLLOUT = "the landscape's rollout";

/**
 * Checks the keys `defaults`, `policy` and `rollout` of a configuration file, and that a project that configures nothing
 * obeys the policy.
 * @throws ConfigError with everything that is wrong with them
 */
export function readLandscape(written: { [key in keyof Landscape]?: unknown }): Landscape {
  const { defaults, policy, rollout } = written;
  const issues = [
    ...defaultsIssues(defaults),
    ...(isSet(policy) ? schemaIssues(POLICY, policySchema, policy) : []),
    ...(isSet(rollout) ? schemaIssues(ROLLOUT, landscapeRolloutSchema, rollout) : []),
  ];
  if (issues.length > 0) throw new ConfigError(issues);
  const landscape = {
    ...(isSet(defaults) && { defaults }),
    ...(isSet(policy) && { policy }),
    ...(isSet(rollout) && { rollout }),
  } as Landscape;
  try {
    // A policy that refuses the defaults would refuse every Shoot that does not say otherwise.
    effectiveConfig({ landscape });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // Named as fields of the defaults, also where they do not set them: the remedy is there.
    throw new ConfigError(error.issues.map((issue) => ({ ...issue, object: DEFAULTS })));
  }
  return landscape;
}
