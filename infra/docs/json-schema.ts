import * as z from 'zod/mini';
import { fluxConfigSchema } from '../../shared/config/flux-config.ts';
import { fluxSchema } from '../../shared/config/flux-options.ts';
import { objectSchema } from '../../shared/config/listed/read-objects.ts';
import { overrideSchema } from '../../shared/config/overrides.ts';
import {
  additionalSecretSchema,
  kustomizationPatchSchema,
  kustomizationSchema,
  providerConfigSchema,
  sourceSchema,
} from '../../shared/config/provider-config-schema.ts';
import { isTextMap, keyDocs, shapeOf } from '../../shared/config/schema.ts';
import {
  fluxKinds,
  kustomizationTemplateSchema,
  SOURCE_KINDS,
  sourceTemplateSchema,
  templateSpecs,
} from '../../shared/config/templates.ts';
import { configMapSchema } from '../cli/inputs.ts';

export type Schema = Record<string, unknown>;

/**
 * Generates the JSON Schemas for editors, by path below `docs/`. They say less than the product checks: no rule about
 * several keys, and nothing about the form of a text. They refuse nothing that the product accepts.
 */
export function schemaFiles(): Record<string, string> {
  const schemas: Record<string, [title: string, schema: Schema]> = {
    'provider-config': ['FluxConfig, the providerConfig of a Shoot', jsonSchema(providerConfigSchema)],
    'flux-config': ['The ConfigMap flux-config', jsonSchema(configMapSchema)],
    // Files for `kubectl create configmap --from-file`. An empty one is null.
    config: ['config.yaml of flux-config', orAbsent(jsonSchema(providerConfigSchema), [null])],
    overrides: ['overrides.yaml of flux-config', { type: ['array', 'null'], items: jsonSchema(overrideSchema) }],
  };
  const $schema = 'http://json-schema.org/draft-07/schema#';
  return Object.fromEntries(
    Object.entries(schemas).map(([name, [title, schema]]) => [
      `schemas/${name}.json`,
      `${JSON.stringify({ $schema, title, ...schema }, null, 2)}\n`,
    ]),
  );
}

/** Generates the JSON Schema of what a schema reads, with the documentation of its rows. */
export function jsonSchema(schema: z.core.$ZodType): Schema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema: json }) {
      describe(zodSchema, json);
    },
  });
  return rest;
}

type Absent = null | '';

/** Rows with what their reader takes for an absent value. */
const absent = new Map<z.core.$ZodType, readonly Absent[]>();

/** Objects of which the reader leaves out such fields before it looks for unknown keys. */
const tolerant = new Set<z.core.$ZodType>();

/** Refuses unknown keys also without a value, for programs that would name the pattern instead of the key. */
export function strict(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema), (_, inner) =>
    inner?.errorMessage === UNKNOWN.errorMessage ? false : inner,
  );
}

/** An unknown key is refused with a value. Editors show the message. */
const UNKNOWN = { type: ['string', 'null'], pattern: '^\\s*$', errorMessage: 'This key is not known here.' };

/** Declares that the reader of an object takes null and the empty string for an absent field. */
export function mayBeEmpty(schema: z.core.$ZodType): void {
  tolerant.add(schema);
  for (const field of Object.values(shapeOf(schema) ?? {})) {
    if (field._zod.def.type === 'optional') absent.set(field, [null, '']);
  }
}

/** Declares that the reader takes null for an absent field at any depth. */
function mayBeNull(schema: z.core.$ZodType): void {
  tolerant.add(schema);
  for (const field of Object.values(shapeOf(schema) ?? {})) {
    const { def } = (field as z.core.$ZodTypes)._zod;
    if (def.type === 'optional' && !absent.has(field)) absent.set(field, [null]);
    if (def.type === 'optional' && isTextMap(def.innerType)) absent.set(def.innerType, [null]);
    mayBeNull(field);
  }
}

// As `readProviderConfig`, `tidyTemplate` and `readInputs` read.
for (const schema of [providerConfigSchema, fluxSchema, sourceSchema, kustomizationSchema, additionalSecretSchema])
  mayBeEmpty(schema);
for (const schema of [configMapSchema, fluxConfigSchema]) mayBeNull(schema);
const sourceTemplates = SOURCE_KINDS.map((kind) => [kind, tidied(sourceTemplateSchema(kind))] as const);
/** The kinds with fields that are checked before the CRDs do. */
const listed = [...Object.keys(templateSpecs), 'HelmRelease'].map((kind) => {
  const { spec } = tidied(objectSchema(kind)).shape;
  absent.set(spec, [null, '']);
  return [kind, spec] as const;
});
tidied(kustomizationTemplateSchema);

function tidied<T extends z.ZodMiniObject>(template: T): T {
  const { metadata, spec } = template.shape as Record<string, z.core.$ZodType>;
  const { ref, secretRef, sourceRef } = shapeOf(spec as z.core.$ZodType) ?? {};
  for (const schema of [template, metadata, spec, ref, secretRef, sourceRef]) if (schema) mayBeEmpty(schema);
  mayBeNull(template);
  return template;
}

/** The parts of a FluxConfig that have schemas of their own. */
const parts = new Map<z.core.$ZodType, () => Schema>([
  [providerConfigSchema.shape.flux, () => jsonSchema(fluxSchema)],
  [providerConfigSchema.shape.source, () => jsonSchema(sourceSchema)],
  [providerConfigSchema.shape.sources, () => ({ items: jsonSchema(sourceSchema) })],
  [providerConfigSchema.shape.kustomization, () => jsonSchema(kustomizationSchema)],
  [providerConfigSchema.shape.kustomizations, () => ({ items: jsonSchema(kustomizationSchema) })],
  [providerConfigSchema.shape.objects, () => ({ items: listedObject() })],
  [providerConfigSchema.shape.additionalSecretResources, () => ({ items: jsonSchema(additionalSecretSchema) })],
  [sourceSchema.shape.template, sourceTemplate],
  [kustomizationSchema.shape.template, () => manifest(kustomizationTemplateSchema)],
  [kustomizationSchema.shape.patch, () => jsonSchema(kustomizationPatchSchema)],
  [configMapSchema.shape.data, () => jsonSchema(fluxConfigSchema)],
  [overrideSchema.shape.config, () => jsonSchema(providerConfigSchema)],
]);

const texts = new Set<z.core.$ZodType>(Object.values(fluxConfigSchema.shape));

function describe(schema: z.core.$ZodType, json: Schema): void {
  Object.assign(json, parts.get(schema)?.());
  // The only one: the values of a chart.
  if (schema._zod.def.type === 'custom') json.type = 'object';
  if (isTextMap(schema)) json.additionalProperties = orAbsent({ type: 'string' }, absent.get(schema));
  else if (texts.has(schema)) anyText(json);
  else orAbsent(json, absent.get(schema));
  if (tolerant.has(schema) && json.additionalProperties === false) json.additionalProperties = UNKNOWN;
  const { template } = shapeOf(schema) ?? {};
  if (template === sourceSchema.shape.template) inFormerForm(json);
  if (template === kustomizationSchema.shape.template) orElse(json, ['patch']);
  const { description, default: value } = keyDocs.get(schema) ?? {};
  if (description) json.description = withoutLinks(`${description}${value ? ` Default: ${value}.` : ''}`);
}

/** The links of the rows lead to sections of docs/configuration.md. */
function withoutLinks(text: string): string {
  return text.replaceAll(/ \[More\]\([^)]*\)\./g, '').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
}

/** Permits what counts as absent. A text may be empty whatever else it has to be. */
function orAbsent(json: Schema, values: readonly Absent[] = []): Schema {
  if (json.const !== undefined) json.enum = [json.const];
  delete json.const;
  const types = new Set([json.type ?? []].flat());
  if (values.length === 0 || types.size === 0) return json;
  if (Array.isArray(json.enum)) json.enum = [...new Set([...json.enum, ...values])];
  if (values.includes('') && !types.has('string')) json.maxLength = 0;
  json.type = [...types, ...values.map((value) => (value === null ? 'null' : 'string'))].filter(
    (type, index, all) => all.indexOf(type) === index,
  );
  return json;
}

/** The values of `flux-config` are trimmed, and an empty one counts as absent. */
function anyText(json: Schema): void {
  const { enum: values } = json;
  delete json.enum;
  json.type = ['string', 'null'];
  if (Array.isArray(values)) json.anyOf = [{ enum: values }, { pattern: `^\\s*(${values.join('|')})?\\s*$` }];
}

/** Permits other keys in place of `template`, which is required otherwise. */
function orElse(json: Schema, keys: string[]): void {
  json.required = undefined;
  json.if = { anyOf: keys.map((key) => ({ required: [key] })) };
  json.else = { required: ['template'] };
}

/** `source.gitRepository`, as the former extension of stackitcloud has it; editors do not offer it. */
function inFormerForm(json: Schema): void {
  json.patternProperties = { '^(git|oci)Repository$': { type: 'object' } };
  orElse(json, ['gitRepository', 'ociRepository']);
}

/** A manifest as Go programs write it, with an empty status. */
function manifest(schema: z.core.$ZodType): Schema {
  const json = jsonSchema(schema);
  return { ...json, properties: { ...(json.properties as Schema), status: {} } };
}

const ofKind = (kind: string) => ({ properties: { kind: { const: kind } }, required: ['kind'] });

/** Each kind has its own fields. */
function sourceTemplate(): Schema {
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  const fields = sourceTemplates.map(([kind, schema]) => ({ if: ofKind(kind), then: manifest(schema) }));
  return { properties: { kind: { enum: SOURCE_KINDS } }, required: ['kind'], allOf: fields };
}

/** An entry of `objects`. A kind that is not known here may exist in a newer release, in a group of Flux. */
function listedObject(): Schema {
  const { properties, ...common } = manifest(tidied(objectSchema('Provider')));
  const group = { apiVersion: { type: 'string', pattern: '^[^/]*\\.(toolkit|extensions)\\.fluxcd\\.io/' } };
  return {
    ...common,
    properties: {
      ...(properties as Schema),
      metadata: { ...(properties as Record<string, Schema>).metadata, type: 'object', required: ['name'] },
      // Whether an object needs a spec is a matter of its CRD.
      spec: orAbsent({ type: 'object' }, [null, '']),
    },
    required: ['kind', 'metadata'],
    if: { properties: group, required: ['apiVersion'] },
    else: { properties: { kind: { enum: Object.keys(fluxKinds) } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    allOf: listed.map(([kind, spec]) => ({ if: ofKind(kind), then: { properties: { spec: jsonSchema(spec) } } })),
  };
}
