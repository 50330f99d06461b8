import * as z from 'zod/mini';
import { fluxConfigSchema } from '../../shared/config/flux-config.ts';
import { fluxSchema } from '../../shared/config/flux-options.ts';
import { objectSchema } from '../../shared/config/listed/read-objects.ts';
import { overrideSchema } from '../../shared/config/overrides.ts';
import {
  additionalSecretSchema,
  kustomizationPatchSchema,
  kustomizationSchema,
  listedAddonSchema,
  providerConfigSchema,
  sourceSchema,
} from '../../shared/config/provider-config-schema.ts';
import { keyDocs, shapeOf } from '../../shared/config/schema.ts';
import {
  fluxKinds,
  kustomizationTemplateSchema,
  SOURCE_KINDS,
  sourceTemplateSchema,
  templateSpecs,
} from '../../shared/config/templates.ts';
import { configMapSchema } from '../cli/inputs.ts';

/** What is read and changed here has its type. */
export interface Schema {
  [keyword: string]: unknown;
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}

/**
 * Generates the JSON Schemas for editors, by path below `docs/`. They say less than the product checks: no rule about
 * several keys, and nothing about the form of a text. They refuse nothing that the product accepts.
 */
export function schemaFiles(): Record<string, string> {
  const fluxConfig = jsonSchema(providerConfigSchema);
  const file = (title: string, schema: Schema) =>
    `${JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', title, ...schema }, null, 2)}\n`;
  return {
    'schemas/provider-config.json': file('FluxConfig, the providerConfig of a Shoot', fluxConfig),
    'schemas/flux-config.json': file('The ConfigMap flux-config', mayBeNull(jsonSchema(configMapSchema))),
    // Files for `kubectl create configmap --from-file`. An empty one is null.
    'schemas/config.json': file('config.yaml of flux-config', { ...fluxConfig, type: ['object', 'null'] }),
    'schemas/overrides.json': file('overrides.yaml of flux-config', {
      type: ['array', 'null'],
      items: jsonSchema(overrideSchema),
    }),
  };
}

/** Generates the JSON Schema of what a schema reads, with the documentation of its rows. */
export function jsonSchema(schema: z.core.$ZodType): Schema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema: json }) {
      describe(zodSchema, json as Schema);
    },
  });
  return rest as Schema;
}

/** Refuses unknown keys also without a value, for programs that would name the pattern instead of the key. */
export function strict(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema), (_, inner) =>
    inner?.errorMessage === UNKNOWN.errorMessage ? false : inner,
  );
}

/** An unknown key is refused with a value. Editors show the message. */
const UNKNOWN = { type: ['string', 'null'], pattern: '^\\s*$', errorMessage: 'This key is not known here.' };

/** Permits what the reader of an object takes for an absent field, and leaves out before it looks for unknown keys. */
export function mayBeEmpty(json: Schema, values: readonly (null | '')[] = [null, '']): Schema {
  for (const [name, field] of Object.entries(json.properties ?? {}))
    if (json.required?.includes(name) !== true) orAbsent(field, values);
  if (json.additionalProperties === false) json.additionalProperties = UNKNOWN;
  return json;
}

/** Permits null for an absent field at any depth. */
function mayBeNull(json: Schema): Schema {
  mayBeEmpty(json, [null]);
  const { additionalProperties, properties = {}, items } = json;
  // A map of texts.
  if ((additionalProperties as Schema | undefined)?.type === 'string') orAbsent(additionalProperties as Schema, [null]);
  for (const inner of [...Object.values(properties), ...(items ? [items] : [])]) mayBeNull(inner);
  return json;
}

/** A manifest as `tidyTemplate` reads it. Go programs write it with an empty status. */
function manifest(schema: z.core.$ZodType): Schema {
  const json = mayBeNull(jsonSchema(schema));
  const { metadata, spec } = json.properties ?? {};
  const { ref, secretRef, sourceRef } = spec?.properties ?? {};
  for (const part of [json, metadata, spec, ref, secretRef, sourceRef]) if (part) mayBeEmpty(part);
  return { ...json, properties: { ...json.properties, status: {} } };
}

/** The parts of a FluxConfig that have schemas of their own. */
const parts = new Map<z.core.$ZodType, () => Schema>([
  [providerConfigSchema.shape.flux, () => jsonSchema(fluxSchema)],
  [providerConfigSchema.shape.source, () => jsonSchema(sourceSchema)],
  [providerConfigSchema.shape.sources, () => ({ items: jsonSchema(sourceSchema) })],
  [providerConfigSchema.shape.kustomization, () => jsonSchema(kustomizationSchema)],
  [providerConfigSchema.shape.kustomizations, () => ({ items: jsonSchema(kustomizationSchema) })],
  [providerConfigSchema.shape.objects, () => ({ items: listedObject() })],
  [
    providerConfigSchema.shape.addons,
    () => ({ items: { ...mayBeEmpty(jsonSchema(listedAddonSchema)), type: ['object', 'string'] } }),
  ],
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
  if (json.const !== undefined) json.enum = [json.const];
  delete json.const;
  if (isTextMap(schema)) json.additionalProperties = { type: 'string' };
  if (texts.has(schema)) anyText(json);
  // As `readProviderConfig` reads these objects.
  const { template } = schema._zod.def.type === 'object' ? (shapeOf(schema) ?? {}) : {};
  if ([providerConfigSchema, fluxSchema, additionalSecretSchema].some((one) => one === schema)) mayBeEmpty(json);
  if (template === sourceSchema.shape.template) inFormerForm(mayBeEmpty(json));
  if (template === kustomizationSchema.shape.template) orElse(mayBeEmpty(json), ['patch']);
  const { description, default: value } = keyDocs.get(schema) ?? {};
  if (description) json.description = withoutLinks(`${description}${value ? ` Default: ${value}.` : ''}`);
}

/** Returns true for the schema of a map of texts: of the objects without fields of their own, only that has a check. */
function isTextMap(schema: z.core.$ZodType): boolean {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  return def.type === 'object' && Object.keys(def.shape).length === 0 && def.checks !== undefined;
}

/** The links of the rows lead to sections of docs/configuration.md. */
function withoutLinks(text: string): string {
  return text.replaceAll(/ \[More\]\([^)]*\)\./g, '').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
}

/** Permits what counts as absent. A text may be empty whatever else it has to be. */
function orAbsent(json: Schema, values: readonly (null | '')[] = [null, '']): Schema {
  const types = new Set([json.type ?? []].flat());
  if (types.size === 0) return json;
  if (json.enum) json.enum = [...new Set([...json.enum, ...values])];
  if (values.includes('') && !types.has('string')) json.maxLength = 0;
  json.type = [...new Set([...types, ...values.map((value) => (value === null ? 'null' : 'string'))])];
  return json;
}

/** The values of `flux-config` are trimmed, and an empty one counts as absent. */
function anyText(json: Schema): void {
  const { enum: values } = json;
  delete json.enum;
  json.type = ['string', 'null'];
  if (values) json.anyOf = [{ enum: values }, { pattern: `^\\s*(${values.join('|')})?\\s*$` }];
}

/** Permits other keys in place of `template`, which is required otherwise. */
function orElse(json: Schema, keys: string[]): void {
  delete json.required;
  json.if = { anyOf: keys.map((key) => ({ required: [key] })) };
  json.else = { required: ['template'] };
}

/** `source.gitRepository`, as the former extension of stackitcloud has it; editors do not offer it. */
function inFormerForm(json: Schema): void {
  json.patternProperties = { '^(git|oci)Repository$': { type: 'object' } };
  orElse(json, ['gitRepository', 'ociRepository']);
}

/** What holds for manifests of a kind. */
const ofKind = (kind: string, schema: Schema) => ({
  if: { properties: { kind: { const: kind } }, required: ['kind'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: schema,
});

/** Each kind has its own fields. */
function sourceTemplate(): Schema {
  const fields = SOURCE_KINDS.map((kind) => ofKind(kind, manifest(sourceTemplateSchema(kind))));
  return { properties: { kind: { enum: [...SOURCE_KINDS] } }, required: ['kind'], allOf: fields };
}

/** An entry of `objects`. A kind that is not known here may exist in a newer release, in a group of Flux. */
function listedObject(): Schema {
  const { properties, ...common } = manifest(objectSchema('Provider'));
  const group = { apiVersion: { type: 'string', pattern: '^[^/]*\\.(toolkit|extensions)\\.fluxcd\\.io/' } };
  // Those with fields that are checked before the CRDs do.
  const fields = [...Object.keys(templateSpecs), 'HelmRelease'].map((kind) => {
    const { spec = {} } = manifest(objectSchema(kind)).properties ?? {};
    return ofKind(kind, { properties: { spec: orAbsent(spec) } });
  });
  return {
    ...common,
    properties: {
      ...properties,
      metadata: { ...properties?.metadata, type: 'object', required: ['name'] },
      // Whether an object needs a spec is a matter of its CRD.
      spec: orAbsent({ type: 'object' }),
    },
    required: ['kind', 'metadata'],
    if: { properties: group, required: ['apiVersion'] },
    else: { properties: { kind: { enum: Object.keys(fluxKinds) } } },
    allOf: fields,
  };
}
