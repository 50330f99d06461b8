import { ConfigError } from '../errors.ts';
import { DEFAULTS, defaultsIssues, isSet } from './defaults.ts';
import { effectiveConfig } from './effective-config.ts';
import { policySchema } from './policy/policy.ts';
import { schemaIssues } from './schema.ts';
import type { Landscape } from './types.ts';

/** The name of the policy in errors. */
const POLICY = "the landscape's policy";

/**
 * Checks the keys `defaults` and `policy` of a configuration file, and that a project that configures nothing obeys the
 * policy.
 * @throws ConfigError with everything that is wrong with them
 */
export function readLandscape({ defaults, policy }: { defaults?: unknown; policy?: unknown }): Landscape {
  const issues = [...defaultsIssues(defaults), ...(isSet(policy) ? schemaIssues(POLICY, policySchema, policy) : [])];
  if (issues.length > 0) throw new ConfigError(issues);
  const landscape = { ...(isSet(defaults) && { defaults }), ...(isSet(policy) && { policy }) } as Landscape;
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
