import * as z from 'zod/mini';
import type { ConfigIssue } from '../errors.ts';
import { normalVersion } from './checks.ts';
import { schemaIssues } from './issues.ts';
import {
  type AdditionalSecret,
  type FluxOptions,
  type Layer,
  noContent,
  type SourceLayer,
  type Template,
  unreadLayer,
} from './layer.ts';
import { type Origins, optionOrigins } from './origins.ts';
import { inside, issueAt, type Place } from './place.ts';
import {
  additionalSecretSchema,
  fluxSchema,
  kustomizationPatchSchema,
  kustomizationSchema,
  providerConfigSchema,
  sourceSchema,
} from './provider-config-schema.ts';
import { listProblems, sizeProblem } from './size-limit.ts';
import { kustomizationIssues, sourceIssues } from './template-rules.ts';
import {
  kustomizationTemplateSchema,
  SOURCE_KINDS,
  type SourceKind,
  sourceTemplateSchema,
  tidyTemplate,
} from './templates.ts';
import type { SecretOrigin } from './types.ts';
import { asObject, asString, type JsonObject, withoutEmpty } from './values.ts';

/** The name of the providerConfig in errors. */
export const PROVIDER_CONFIG = 'providerConfig';

/**
 * Reads a FluxConfig: the providerConfig of an Extension, or another one with the same schema.
 * @param place where it is, for errors; its paths begin there
 */
export function readProviderConfig(value: unknown, place: Place = { object: PROVIDER_CONFIG, path: '' }): Layer {
  const problem = sizeProblem(value);
  const problems = problem === undefined ? listProblems(value) : [{ path: '', message: problem }];
  if (problems.length === 0) return readParts(value, place);
  return unreadLayer(
    place,
    problems.map(({ path, message }) => issueAt(place, path, message)),
  );
}

function readParts(value: unknown, place: Place): Layer {
  const config = withoutEmpty(value);
  const object = asObject(config) ?? {};
  const top = providerConfigSchema.safeParse(config);
  const flux = readFlux(object.flux, inside(place, 'flux'));
  const source = readSource(object.source, inside(place, 'source'));
  const kustomization = readKustomization(object.kustomization, inside(place, 'kustomization'));
  const isPatch = patchIn(object.kustomization) !== undefined;
  const patch = readPatch(object.kustomization, inside(place, 'kustomization'));
  const additional = readAdditionalSecrets(
    object.additionalSecretResources,
    inside(place, 'additionalSecretResources'),
  );
  return {
    ...place,
    isRead: true,
    content: {
      ...noContent,
      ...(top.success && {
        syncMode: top.data.syncMode,
        deletionPolicy: top.data.deletionPolicy,
        suspend: top.data.suspend,
      }),
      flux: flux.value ?? {},
      source: source.value,
      kustomization: kustomization.value,
      kustomizationPatch: patch.value,
      additionalSecrets: additional.value ?? [],
    },
    sets: { source: object.source !== undefined, kustomization: object.kustomization !== undefined && !isPatch },
    secretResourceName: asString(asObject(withoutEmpty(object.source))?.secretResourceName),
    origins: originsOf(object, flux.value ?? {}, place),
    issues: [
      ...schemaIssues(place, providerConfigSchema, config),
      ...flux.issues,
      ...source.issues,
      ...kustomization.issues,
      ...patch.issues,
      ...additional.issues,
    ],
  };
}

/** Part of the effective configuration -> its path in the FluxConfig. */
const partPaths: Record<string, string> = {
  source: 'source.template',
  kustomization: 'kustomization.template',
  additionalSecrets: 'additionalSecretResources',
  syncMode: 'syncMode',
  deletionPolicy: 'deletionPolicy',
  suspend: 'suspend',
};

function originsOf(config: JsonObject, flux: FluxOptions, place: Place): Origins {
  const options = optionOrigins(flux, (option, index) =>
    inside(place, `flux.${option}${index === undefined ? '' : `[${index}]`}`),
  );
  // A patch says itself which fields it sets, `patchedKustomization`.
  const { kustomization, ...others } = config;
  const set: JsonObject = {
    ...others,
    kustomization: patchIn(kustomization) === undefined ? kustomization : undefined,
  };
  const parts = Object.entries(partPaths).filter(([, path]) => set[path.replace('.template', '')] !== undefined);
  return { ...options, ...Object.fromEntries(parts.map(([part, path]) => [part, inside(place, path)])) };
}

interface Read<T> {
  value?: T | undefined;
  issues: ConfigIssue[];
}

// `providerConfigSchema` reports a part that is not an object.
const skipped = { issues: [] };

function readFlux(value: unknown, place: Place): Read<FluxOptions> {
  const flux = asObject(withoutEmpty(value));
  if (flux === undefined) return skipped;
  const parsed = fluxSchema.safeParse(flux);
  if (!parsed.success) return { issues: schemaIssues(place, fluxSchema, flux) };
  const { version, components, ...rest } = parsed.data;
  return {
    value: {
      ...rest,
      version: version && normalVersion(version),
      // Go programs write an empty list for an absent one.
      components: components?.length === 0 ? undefined : components,
    },
    issues: [],
  };
}

function readSource(value: unknown, place: Place): Read<SourceLayer> {
  const source = asObject(withoutEmpty(value));
  if (source === undefined) return skipped;
  const template = withDefaultSecretRef(tidyTemplate(source.template), source.secretResourceName);
  const issues = schemaIssues(place, sourceSchema, source);
  const object = asObject(template);
  if (object === undefined) return { issues };
  const kind = SOURCE_KINDS.find((name) => name === object.kind) ?? unknownKind(object, place);
  // The spec can only be checked for a known kind.
  const all = [...issues, ...(typeof kind === 'string' ? templateIssues(source, object, kind, place) : [kind])];
  if (all.length > 0) return { issues: all };
  const resourceName = asString(source.secretResourceName);
  const secret: SecretOrigin | undefined = resourceName === undefined ? undefined : { type: 'resource', resourceName };
  return { value: { template: object as unknown as Template, secret }, issues: [] };
}

function templateIssues(source: JsonObject, template: JsonObject, kind: SourceKind, place: Place): ConfigIssue[] {
  return [
    ...schemaIssues(place, sourceTemplateSchema(kind), template, ['template']),
    ...sourceIssues(source, template, kind, place),
  ];
}

function unknownKind(template: JsonObject, place: Place): ConfigIssue {
  const [issue] = schemaIssues(place, z.object({ kind: z.enum(SOURCE_KINDS) }), template, ['template']);
  return issue ?? issueAt(place, 'template.kind', 'is not a valid value');
}

/** Early users of `secretResourceName` could omit `secretRef`, so it has a default. */
function withDefaultSecretRef(template: unknown, secretResourceName: unknown): unknown {
  const object = asObject(template);
  const spec = asObject(object?.spec);
  if (object === undefined || spec === undefined || secretResourceName === undefined) return template;
  return spec.secretRef === undefined ? { ...object, spec: { ...spec, secretRef: { name: 'flux-system' } } } : template;
}

function readKustomization(value: unknown, place: Place): Read<Template> {
  const kustomization = asObject(withoutEmpty(value));
  if (kustomization === undefined || patchIn(kustomization) !== undefined) return skipped;
  const template = tidyTemplate(kustomization.template ?? {});
  const issues = schemaIssues(place, kustomizationSchema, { ...kustomization, template });
  const object = asObject(template);
  if (object === undefined) return { issues };
  const all = [
    ...issues,
    ...schemaIssues(place, kustomizationTemplateSchema, object, ['template']),
    ...kustomizationIssues(object, place),
  ];
  return all.length > 0 ? { issues: all } : { value: object as unknown as Template, issues: [] };
}

/** Returns the patch of a `kustomization`, valid or not. */
function patchIn(kustomization: unknown): unknown {
  return asObject(withoutEmpty(kustomization))?.patch;
}

function readPatch(value: unknown, place: Place): Read<JsonObject> {
  const { patch, ...others } = asObject(withoutEmpty(value)) ?? {};
  if (patch === undefined) return skipped;
  const issues = [
    ...schemaIssues(place, patchOnlySchema, { patch, ...others }),
    ...(asObject(patch) === undefined ? [] : schemaIssues(place, kustomizationPatchSchema, patch, ['patch'])),
    ...(others.template === undefined
      ? []
      : [issueAt(place, 'patch', 'cannot be combined with template; remove one of them')]),
  ];
  return issues.length > 0 ? { issues } : { value: patch as JsonObject, issues: [] };
}

const patchOnlySchema = z.strictObject({ ...kustomizationSchema.shape, template: z.optional(z.unknown()) });

function readAdditionalSecrets(value: unknown, place: Place): Read<AdditionalSecret[]> {
  if (!Array.isArray(value)) return skipped;
  const entries = value.map(withoutEmpty);
  const issues = entries.flatMap((entry, index) =>
    asObject(entry) === undefined ? [] : schemaIssues(place, additionalSecretSchema, entry, [index]),
  );
  // Invalid entries stay in the list, because later checks name entries by their index.
  return {
    value: entries.map((entry, index) => ({
      place: inside(place, `[${index}]`),
      name: asString(asObject(entry)?.name) ?? '',
      targetName: asString(asObject(entry)?.targetName),
    })),
    issues,
  };
}
