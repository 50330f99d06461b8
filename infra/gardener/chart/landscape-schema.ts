import * as z from 'zod/mini';
import { pullSecretSchema } from '../../../shared/config/defaults.ts';
import { fluxSchema } from '../../../shared/config/flux-options.ts';
import { policySchema } from '../../../shared/config/policy/policy.ts';
import {
  kustomizationSchema,
  providerConfigSchema,
  sourceSchema,
} from '../../../shared/config/provider-config-schema.ts';
import { keyDocs } from '../../../shared/config/schema.ts';
import { kustomizationTemplateSchema, SOURCE_KINDS, sourceTemplateSchema } from '../../../shared/config/templates.ts';
import { documented } from '../../docs/table.ts';

type Schema = Record<string, unknown>;

const { additionalSecretResources: _, ...fluxConfig } = providerConfigSchema.shape;
// Both refer to `spec.resources` of a Shoot.
const { secretResourceName: __, ...source } = sourceSchema.shape;

/** The schemas with which the product reads `defaults` and `policy`, each with all of its parts. */
const schemas = {
  defaults: z.strictObject({
    ...fluxConfig,
    flux: z.optional(fluxSchema),
    source: z.optional(z.strictObject(source)),
    kustomization: z.optional(kustomizationSchema),
    pullSecret: z.optional(pullSecretSchema),
  }),
  policy: policySchema,
};

/** A value of a chart that holds a part of the landscape's configuration. */
export type LandscapeValue = keyof typeof schemas;

/** Returns true for `defaults` and `policy`. */
export function isLandscapeValue(name: string): name is LandscapeValue {
  return Object.hasOwn(schemas, name);
}

/** Refers to one of the definitions below. */
export function landscapeRef(name: LandscapeValue): Schema {
  return { $ref: `#/definitions/${name}` };
}

/** Generates the JSON Schemas of `defaults` and `policy`: Helm reports a typo before a process does. */
export function landscapeDefinitions(): Record<LandscapeValue, Schema> {
  const defaults = {
    ...jsonSchema(schemas.defaults),
    dependencies: { source: ['kustomization'], kustomization: ['source'] },
  };
  return { defaults, policy: jsonSchema(schemas.policy) };
}

/** Returns the keys of `defaults` or `policy` with their documentation, by their path below the value. */
export function landscapeKeys(name: LandscapeValue): { path: string; description: string; default: string }[] {
  return documented(schemas[name]).map(({ path, schema }) => {
    const { description = '', default: value = '' } = keyDocs.get(schema) ?? {};
    return { path, description, default: value };
  });
}

function jsonSchema(schema: z.core.$ZodType): Schema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    override({ zodSchema, jsonSchema: json }) {
      const description = keyDocs.get(zodSchema)?.description;
      if (zodSchema === source.template) Object.assign(json, sourceTemplate());
      if (zodSchema === kustomizationSchema.shape.template)
        Object.assign(json, jsonSchema(kustomizationTemplateSchema));
      if (description !== undefined) json.description = description;
    },
  });
  return rest;
}

/** Each kind has its own fields. */
function sourceTemplate(): Schema {
  const ofKind = (kind: string) => ({ properties: { kind: { const: kind } } });
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  const fields = SOURCE_KINDS.map((kind) => ({ if: ofKind(kind), then: jsonSchema(sourceTemplateSchema(kind)) }));
  return {
    properties: { kind: { enum: SOURCE_KINDS } },
    required: ['kind'],
    allOf: fields,
  };
}
