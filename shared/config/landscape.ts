import { ConfigError, type ConfigIssue, unlessInvalid } from '../errors.ts';
import { catalogueIssues, isOfAddon } from './addons.ts';
import { DEFAULTS, defaultsIssues, isSet } from './defaults.ts';
import { effectiveConfig } from './effective-config.ts';
import { policySchema } from './policy/policy.ts';
import { landscapeRolloutSchema } from './rollout.ts';
import { schemaIssues } from './schema.ts';
import type { ConfigInputs, Landscape } from './types.ts';

/** The names of the policy and of the rollout in errors. */
const POLICY = "the landscape's policy";
const ROLLOUT = "the landscape's rollout";

/**
 * Checks the keys `defaults`, `policy`, `addons` and `rollout` of a configuration file, that a project that configures
 * nothing obeys the policy, and that it may list each addon.
 * @throws ConfigError with everything that is wrong with them
 */
export function readLandscape(written: { [key in keyof Landscape]?: unknown }): Landscape {
  const { defaults, policy, addons, rollout } = written;
  const issues = [
    ...defaultsIssues(defaults),
    ...(isSet(policy) ? schemaIssues(POLICY, policySchema, policy) : []),
    ...catalogueIssues(addons),
    ...(isSet(rollout) ? schemaIssues(ROLLOUT, landscapeRolloutSchema, rollout) : []),
  ];
  if (issues.length > 0) throw new ConfigError(issues);
  const landscape = {
    ...(isSet(defaults) && { defaults }),
    ...(isSet(policy) && { policy }),
    ...(isSet(rollout) && { rollout }),
    ...(isSet(addons) && { addons }),
  } as Landscape;
  // A policy that refuses the defaults would refuse every Shoot that does not say otherwise. Named as fields of the
  // defaults, also where they do not set them: the remedy is there.
  const ofAll = issuesWith({ landscape }).map((issue) => (isOfAddon(issue) ? issue : { ...issue, object: DEFAULTS }));
  if (ofAll.length > 0) throw new ConfigError(ofAll);
  // Without the source of the defaults, which a project replaces.
  const alone = { ...landscape, defaults: { flux: landscape.defaults?.flux } };
  const ofAddons = Object.keys(landscape.addons ?? {}).flatMap((name) =>
    issuesWith({ landscape: alone, providerConfig: { addons: [name] } }),
  );
  if (ofAddons.length > 0) throw new ConfigError(ofAddons);
  return landscape;
}

function issuesWith(inputs: ConfigInputs): ConfigIssue[] {
  const config = unlessInvalid(() => effectiveConfig(inputs));
  return config instanceof ConfigError ? config.issues : [];
}
