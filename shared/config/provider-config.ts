import * as z from 'zod/mini';
import type { ConfigIssue } from '../errors.ts';
import { normalVersion } from './checks.ts';
import { fieldIssues, fieldWarnings, sourceIssues } from './field-rules.ts';
import { isFluxConfigObject } from './flux-config-map.ts';
import { fluxSchema, settings } from './flux-options.ts';
import { listProblems, MOST_ISSUES_OF_A_PART, sizeProblem } from './limits.ts';
import { readObjects } from './listed/read-objects.ts';
import { inside, issueAt, optionOrigins, type Place } from './origins.ts';
import { FLUX_SOURCE } from './project-config.ts';
import {
  additionalSecretSchema,
  kustomizationPatchSchema,
  kustomizationSchema,
  listedAddonSchema,
  PROVIDER_CONFIG_API,
  plainKeys,
  providerConfigSchema,
  sourceSchema,
} from './provider-config-schema.ts';
import { shown } from './quote.ts';
import { pathText, schemaIssues, unknownKey } from './schema.ts';
import {
  kustomizationTemplateSchema,
  SOURCE_KINDS,
  sourceTemplateSchemas,
  tidyTemplate,
  withoutDroppedFields,
} from './templates.ts';
import {
  type AdditionalSecret,
  emptyLayer,
  type FluxOptions,
  type Layer,
  type ListedAddon,
  type PlacedTemplate,
  type Read,
  type Template,
} from './types.ts';
import { asObject, asString, type JsonObject, withoutEmpty } from './values.ts';

/** The name of the providerConfig in errors. */
export const PROVIDER_CONFIG = 'providerConfig';

/**
 * Reads a FluxConfig: the providerConfig of an Extension, or another one with the same schema. It may be absent.
 * @param place where it is, for errors; its paths begin there
 */
export function readProviderConfig(value: unknown, place: Place = { object: PROVIDER_CONFIG, path: '' }): Layer {
  if (value === undefined || value === null) return emptyLayer(place);
  const problem = sizeProblem(value) ?? foreignProblem(value);
  const problems = problem === undefined ? listProblems(value) : [{ path: '', message: problem }];
  if (problems.length === 0) return readParts(value, place);
  const issues = problems.map(({ path, message }) => issueAt(place, path, message));
  return emptyLayer(place, issues);
}

/** Users paste the resources of other installers, of which no field is known here. */
function foreignProblem(value: unknown): string | undefined {
  const { apiVersion, kind } = asObject(value) ?? {};
  const isForeign = typeof kind === 'string' && !['', 'FluxConfig'].includes(kind);
  if (!isForeign || typeof apiVersion !== 'string' || ['', PROVIDER_CONFIG_API].includes(apiVersion)) return undefined;
  return `is a ${shown(kind)} of ${shown(apiVersion)}; write a FluxConfig of ${PROVIDER_CONFIG_API}`;
}

function readParts(value: unknown, place: Place): Layer {
  const config = withoutEmpty(value);
  const object = asObject(config) ?? {};
  const written = writtenSource(object.source);
  const source = { value: written.source, place: inside(place, written.path) };
  const isPatch = patchIn(object.kustomization) !== undefined;
  const ks = { value: isPatch ? undefined : object.kustomization, place: inside(place, 'kustomization') };
  const additionalPlace = inside(place, 'additionalSecretResources');
  const flux = readFlux(object.flux, inside(place, 'flux'));
  const sources = readEntries(object, ['sources', 'source'], place, source, readSource);
  const kustomizations = readEntries(object, ['kustomizations', 'kustomization'], place, ks, readKustomization);
  const patch = readPatch(object.kustomization, ks.place);
  const objects = readObjects(object.objects, inside(place, 'objects'));
  const addons = readAddons(object.addons, inside(place, 'addons'));
  const additional = readAdditionalSecrets(object.additionalSecretResources, additionalPlace);
  const parts = [flux, sources, kustomizations, patch, additional, objects, addons];
  const set = Object.keys(settings).filter((name) => object[name] !== undefined);
  return {
    ...place,
    isRead: true,
    content: {
      ...z.object(plainKeys).safeParse(object).data,
      flux: flux.value ?? {},
      sources: sources.value,
      kustomizations: kustomizations.value,
      kustomizationPatch: patch.value,
      objects: objects.value,
      addons: addons.value,
      additionalSecrets: additional.value,
    },
    sets: { source: sources.place !== undefined, kustomization: kustomizations.place !== undefined },
    origins: {
      ...optionOrigins(flux.value ?? {}, (option, index) =>
        inside(place, `flux.${option}${index === undefined ? '' : `[${index}]`}`),
      ),
      ...(sources.place && { source: sources.place }),
      // A patch says itself which fields it sets, `patchedKustomization`.
      ...(kustomizations.place && { kustomization: kustomizations.place }),
      ...(object.additionalSecretResources !== undefined && { additionalSecrets: additionalPlace }),
      ...(addons.value && { addons: inside(place, 'addons') }),
      ...Object.fromEntries(set.map((name) => [name, inside(place, name)])),
    },
    issues: [...schemaIssues(place, providerConfigSchema, config), ...parts.flatMap(({ issues }) => issues)],
    warnings: parts.flatMap(({ warnings }) => warnings ?? []),
  };
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

function readAdditionalSecrets(value: unknown, place: Place): Read<AdditionalSecret[]> {
  if (!Array.isArray(value) || value.length === 0) return skipped;
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

/** Reads names of addons, and objects with name and values. */
function readAddons(entries: unknown, place: Place): Read<ListedAddon[]> {
  if (!Array.isArray(entries)) return skipped;
  const value: ListedAddon[] = [];
  const issues = entries.flatMap((entry, index) => {
    const written = typeof entry === 'string' ? { name: entry } : withoutEmpty(entry);
    const found = schemaIssues(place, listedAddonSchema, written, [index]);
    if (found.length === 0) value.push({ ...(written as ListedAddon), place: inside(place, `[${index}]`) });
    return found;
  });
  return { value, issues };
}

/** An entry of `sources` or `kustomizations`, or its short form `source` or `kustomization`. */
interface Entry {
  value: unknown;
  place: Place;
  /** The position in the list; absent: it is the short form. */
  index?: number;
}

interface ReadEntry extends Read<PlacedTemplate> {
  /** True: it has nothing but keys of other parts, so nothing else can be said about it. */
  isStray?: boolean;
}

/**
 * Reads a list, or its short form. An empty list means the same as an absent one: Go programs write it.
 * @returns also where the template of the first entry is, unless there is none
 */
function readEntries(
  object: JsonObject,
  [list, single]: readonly [string, string],
  place: Place,
  short: Entry,
  read: (entry: Entry) => ReadEntry,
) {
  const listed = (Array.isArray(object[list]) ? object[list] : []).map(
    (value: unknown, index): Entry => ({ value, index, place: inside(place, `${list}[${index}]`) }),
  );
  const entries = listed.length > 0 || short.value === undefined ? listed : [short];
  const results = entries.map(read);
  const isStray = listed.length === 0 && results[0]?.isStray === true;
  const isBoth = listed.length > 0 && object[single] !== undefined;
  return {
    place: entries[0] && !isStray ? inside(entries[0].place, 'template') : undefined,
    value: results.map(({ value }) => value),
    issues: [
      ...(isBoth ? [issueAt(place, list, `cannot be combined with ${single}; move ${single} into the list`)] : []),
      ...results.flatMap(({ issues }) => issues),
    ],
    warnings: results.flatMap(({ warnings }) => warnings ?? []),
  };
}

/** A part of a FluxConfig that holds a manifest below `template`. */
interface ManifestPart {
  /** What users call it: `source` or `Kustomization`. */
  name: string;
  schema: z.ZodMiniObject;
  /** Fields of its `spec`, which users write beside `template`, with spaces between. */
  specFields: string;
}

const MANIFEST = ['apiVersion', 'kind', 'metadata', 'spec'];

/** The fields of sources that people write most. */
const sourcePart: ManifestPart = {
  name: 'source',
  schema: sourceSchema,
  specFields:
    'url ref branch tag semver interval timeout secretRef provider suspend ignore include verify bucketName endpoint recurseSubmodules serviceAccountName insecure layerSelector',
};

/** The fields of Kustomizations. */
const kustomizationPart: ManifestPart = {
  name: 'Kustomization',
  schema: kustomizationSchema,
  specFields:
    'path interval prune sourceRef targetNamespace retryInterval timeout suspend wait force dependsOn patches images components postBuild decryption healthChecks healthCheckExprs kubeConfig serviceAccountName commonMetadata namePrefix nameSuffix deletionPolicy',
};

function readSource(written: Entry): ReadEntry {
  const { place, index } = written;
  const read = readTemplate(sourcePart, written, (source, given) => {
    const template = withDefaultSecretRef(given, source.secretResourceName, index);
    // The spec can only be checked for a known kind.
    const kind = SOURCE_KINDS.find((name) => name === template.kind);
    const issues =
      kind === undefined
        ? schemaIssues(place, z.object({ kind: z.enum(SOURCE_KINDS) }), template, ['template'])
        : [
            ...schemaIssues(place, sourceTemplateSchemas[kind], template, ['template']),
            ...sourceIssues(source, template, kind, place, index !== undefined),
          ];
    return { template, issues };
  });
  const resourceName = asString(asObject(written.value)?.secretResourceName);
  const secret = resourceName ? { type: 'resource' as const, resourceName } : fluxSourceOf(read.value, place);
  return { ...read, value: read.value && { ...read.value, secret } };
}

function readKustomization(written: Entry): ReadEntry {
  const { value, place } = written;
  if (patchIn(value) !== undefined) return { issues: [issueAt(place, 'patch', PATCH_IN_LIST)] };
  return readTemplate(kustomizationPart, written, (_, template) => ({
    template,
    issues: kustomizationIssues(template, inside(place, 'template')),
  }));
}

/** Returns what is wrong with the manifest of a Kustomization. */
export function kustomizationIssues(template: JsonObject, place: Place): ConfigIssue[] {
  const spec = asObject(template.spec) ?? {};
  const issues = schemaIssues(place, kustomizationTemplateSchema, template);
  return [...issues, ...fieldIssues('Kustomization', spec, inside(place, 'spec'))];
}

const PATCH_IN_LIST =
  "is not possible in a list, whose entries are whole Kustomizations; write kustomization.patch to change the project's Kustomization, or template for another one";

/** @param check returns what is wrong with a template, and the template with the defaults of its part */
function readTemplate(
  part: ManifestPart,
  { value, place, index }: Entry,
  check: (entry: JsonObject, template: JsonObject) => { template: JsonObject; issues: ConfigIssue[] },
): ReadEntry {
  const written = asObject(withoutEmpty(value));
  if (written === undefined) return skipped;
  const strays = strayKeyIssues(part, written, place);
  const entry = withoutStrayKeys(part, written);
  if (strays.length > 0 && entry.template === undefined) return { issues: strays, isStray: true };
  // A Kustomization without a template lacks only its path.
  const isKustomization = part === kustomizationPart;
  const tidied = tidyTemplate(entry.template ?? (isKustomization ? {} : undefined));
  const kind = isKustomization ? 'Kustomization' : (asString(asObject(tidied)?.kind) ?? '');
  const ofTemplate = inside(place, 'template');
  const { template: given, warnings } = withoutDroppedFields(tidied, kind, ofTemplate);
  const issues = [...strays, ...schemaIssues(place, part.schema, { ...entry, template: given })];
  const object = asObject(given);
  if (object === undefined) return { issues };
  const checked = check(entry, object);
  const lacksName = index !== undefined && index > 0 && asObject(object.metadata)?.name === undefined;
  const all = [
    ...issues,
    ...checked.issues,
    ...(lacksName
      ? [issueAt(place, 'template.metadata.name', 'is missing; set it, because only the first entry has a default')]
      : []),
  ];
  if (all.length > 0) return { issues: all };
  const spec = asObject(checked.template.spec) ?? {};
  warnings.push(...fieldWarnings(kind, spec, inside(ofTemplate, 'spec')));
  return { value: { template: checked.template as unknown as Template, place: ofTemplate }, issues: [], warnings };
}

/** The project's own credentials, which a source of `flux-config` may name without an entry in `spec.resources`. */
function fluxSourceOf(source: PlacedTemplate | undefined, place: Place): PlacedTemplate['secret'] {
  const name = asObject(source?.template.spec.secretRef)?.name;
  return name === FLUX_SOURCE && isFluxConfigObject(place.object) ? { type: 'flux-source' } : undefined;
}

/** Early users of `secretResourceName` could omit `secretRef`, so it has a default; further sources have one of their own. */
function withDefaultSecretRef(template: JsonObject, secretResourceName: unknown, index = 0): JsonObject {
  const spec = asObject(template.spec);
  if (spec === undefined || secretResourceName === undefined || spec.secretRef !== undefined) return template;
  const name = index === 0 ? 'flux-system' : asObject(template.metadata)?.name;
  return { ...template, spec: { ...spec, secretRef: { name } } };
}

/** Returns the patch of a `kustomization`, valid or not. */
function patchIn(kustomization: unknown): unknown {
  return asObject(withoutEmpty(kustomization))?.patch;
}

const patchOnlySchema = z.strictObject({ ...kustomizationSchema.shape, template: z.optional(z.unknown()) });

function readPatch(value: unknown, place: Place): Read<JsonObject> {
  const written = asObject(withoutEmpty(value)) ?? {};
  const { patch, template } = written;
  if (patch === undefined) return skipped;
  const issues = [
    ...strayKeyIssues(kustomizationPart, written, place),
    ...schemaIssues(place, patchOnlySchema, withoutStrayKeys(kustomizationPart, written)),
    ...(asObject(patch) === undefined ? [] : schemaIssues(place, kustomizationPatchSchema, patch, ['patch'])),
    ...(template === undefined
      ? []
      : [issueAt(place, 'patch', 'cannot be combined with template; remove one of them')]),
  ];
  return issues.length > 0 ? { issues } : { value: patch as JsonObject, issues: [] };
}

/**
 * Returns the issues with keys beside `template`. A field of the manifest is the most frequent one, and a similar name would
 * be misleading: `path` is not `patch`.
 */
function strayKeyIssues(part: ManifestPart, entry: JsonObject, place: Place): ConfigIssue[] {
  const known = Object.keys(part.schema.shape);
  const unknown = Object.keys(entry).filter((key) => !known.includes(key));
  const fields = [...MANIFEST, ...part.specFields.split(' ')];
  const ofManifest = unknown.filter((key) => fields.includes(key));
  const others = unknown.filter((key) => !ofManifest.includes(key)).slice(0, MOST_ISSUES_OF_A_PART);
  const [first, ...more] = ofManifest;
  return [
    ...(first === undefined ? [] : [issueAt(place, first, misplaced(part, entry, first, more))]),
    ...others.map((key) => issueAt(place, pathText([key]), unknownKey(key, known))),
  ];
}

function misplaced({ name, schema }: ManifestPart, entry: JsonObject, key: string, more: string[]): string {
  const isSpec = !MANIFEST.includes(key);
  const below = (parent: string) => `${parent}.${isSpec ? 'spec.' : ''}${key}`;
  const what = `${more.length > 0 ? `(and ${more.join(', ')}) ` : ''}belongs to the ${isSpec ? 'spec' : 'manifest'} of a ${name}`;
  if (schema.shape.patch === undefined || entry.template !== undefined) return `${what}; write ${below('template')}`;
  if (entry.patch !== undefined) return `${what}; write ${below('patch')}`;
  return `${what}; write ${below('patch')} to change the project's Kustomization, or ${below('template')} for another one`;
}

/** Returns the fields that the part knows. */
function withoutStrayKeys({ schema }: ManifestPart, entry: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(entry).filter(([key]) => Object.hasOwn(schema.shape, key)));
}

/** Keys below which examples of the former extension of stackitcloud have the source -> its kind. */
const kinds: Readonly<Record<string, string>> = { gitRepository: 'GitRepository', ociRepository: 'OCIRepository' };

/**
 * Returns the source of a FluxConfig and its path: `source`, or `source.gitRepository` and `source.ociRepository`, as
 * examples of the former extension of stackitcloud write it, where the kind may be left out.
 */
export function writtenSource(value: unknown): { path: string; source: unknown } {
  const fields = asObject(withoutEmpty(value)) ?? {};
  const [key = '', ...others] = Object.keys(fields);
  const kind = Object.hasOwn(kinds, key) ? kinds[key] : undefined;
  const inner = asObject(withoutEmpty(fields[key]));
  if (kind === undefined || inner === undefined || others.length > 0) return { path: 'source', source: value };
  const template = asObject(inner.template);
  return { path: `source.${key}`, source: template ? { ...inner, template: { kind, ...template } } : inner };
}
