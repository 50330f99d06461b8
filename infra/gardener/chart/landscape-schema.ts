import * as z from 'zod/mini';
import { addonSchema } from '../../../shared/config/addons.ts';
import { pullSecretSchema } from '../../../shared/config/defaults.ts';
import { fluxSchema } from '../../../shared/config/flux-options.ts';
import { policySchema } from '../../../shared/config/policy/policy.ts';
import {
  kustomizationSchema,
  providerConfigSchema,
  sourceSchema,
} from '../../../shared/config/provider-config-schema.ts';
import { landscapeRolloutSchema } from '../../../shared/config/rollout.ts';
import { keyDocs } from '../../../shared/config/schema.ts';
import { jsonSchema, mayBeEmpty, type Schema, strict } from '../../docs/json-schema.ts';
import { documented } from '../../docs/table.ts';

const { additionalSecretResources: _, ...fluxConfig } = providerConfigSchema.shape;
// Both refer to `spec.resources` of a Shoot.
const { secretResourceName: __, ...source } = sourceSchema.shape;

/** The schemas with which the product reads these keys, each with all of its parts. */
const schemas = {
  defaults: z.strictObject({
    ...fluxConfig,
    flux: z.optional(fluxSchema),
    source: z.optional(z.strictObject(source)),
    kustomization: z.optional(kustomizationSchema),
    pullSecret: z.optional(pullSecretSchema),
  }),
  policy: policySchema,
  rollout: landscapeRolloutSchema,
  addons: z.record(z.string(), addonSchema),
};

/** A value of a chart that holds a part of the landscape's configuration. */
export type LandscapeValue = keyof typeof schemas;

/** Returns true for their names. */
export function isLandscapeValue(name: string): name is LandscapeValue {
  return Object.hasOwn(schemas, name);
}

/** Refers to one of the definitions below. */
export function landscapeRef(name: LandscapeValue): Schema {
  return { $ref: `#/definitions/${name}` };
}

/** The same as a value of a chart, which may also be a text of YAML: Gardener copies nothing else from a ConfigMap. */
export function landscapeValue(name: LandscapeValue): Schema {
  return { type: ['object', 'string'], if: { type: 'string' }, else: landscapeRef(name) };
}

/** Generates the JSON Schemas of them: Helm reports a typo before a process does. */
export function landscapeDefinitions(): Record<LandscapeValue, Schema> {
  const dependencies = { source: ['kustomization'], kustomization: ['source'] };
  const defaults = strict({ ...mayBeEmpty(jsonSchema(schemas.defaults)), dependencies });
  const { policy, rollout, addons } = schemas;
  return { defaults, policy: jsonSchema(policy), rollout: jsonSchema(rollout), addons: jsonSchema(addons) };
}

/** Returns the keys of one of them with their documentation, by their path below the value. */
export function landscapeKeys(name: LandscapeValue): { path: string; description: string; default: string }[] {
  return documented(schemas[name]).map(({ path, schema }) => {
    const { description = '', default: value = '' } = keyDocs.get(schema) ?? {};
    return { path, description, default: value };
  });
}
