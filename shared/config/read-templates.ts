import * as z from 'zod/mini';
import type { ConfigIssue } from '../errors.ts';
import { isFluxConfigObject } from './flux-config-map.ts';
import type { SourceLayer, Template } from './layer.ts';
import { MOST_ISSUES_OF_A_PART } from './limits.ts';
import { readObjects } from './listed/read-objects.ts';
import { inside, issueAt, type Place } from './origins.ts';
import { FLUX_SOURCE } from './project-config.ts';
import { kustomizationPatchSchema, kustomizationSchema, sourceSchema } from './provider-config-schema.ts';
import { pathText, schemaIssues, unknownKey } from './schema.ts';
import { kustomizationIssues, sourceIssues } from './template-rules.ts';
import {
  kustomizationTemplateSchema,
  SOURCE_KINDS,
  type SourceKind,
  sourceTemplateSchema,
  tidyTemplate,
  withoutDroppedFields,
} from './templates.ts';
import type { SecretOrigin } from './types.ts';
import { asObject, asString, type JsonObject, withoutEmpty } from './values.ts';

/** A part of a FluxConfig: its value if it is valid. */
export interface Read<T> {
  value?: T | undefined;
  issues: ConfigIssue[];
  warnings?: ConfigIssue[] | undefined;
  /** True: it has nothing but keys of other parts, so nothing else can be said about it. */
  isStray?: boolean | undefined;
}

type ReadEntry<T> = (value: unknown, place: Place, index?: number) => Read<T>;

interface ReadList<T> {
  /** The first entry, unread. */
  root: unknown;
  first: Read<T>;
  /** The valid ones of the others. */
  more: { value: T; place: Place }[];
  issues: ConfigIssue[];
  warnings: ConfigIssue[];
}

/** An empty list means the same as an absent one: Go programs write it. */
function readList<T>(
  object: JsonObject,
  [list, single]: readonly [string, string],
  place: Place,
  read: ReadEntry<T>,
): ReadList<T> | undefined {
  const entries = object[list];
  if (!Array.isArray(entries) || entries.length === 0) return undefined;
  const [first = { issues: [] }, ...others] = entries.map((entry, index) => ({
    ...read(entry, inside(place, `${list}[${index}]`), index),
    place: inside(place, `${list}[${index}]`),
  }));
  const both =
    object[single] === undefined
      ? []
      : [issueAt(place, list, `cannot be combined with ${single}; move ${single} into the list`)];
  return {
    root: entries[0],
    first,
    more: others.flatMap(({ value, place }) => (value === undefined ? [] : [{ value, place }])),
    issues: [...both, ...others.flatMap(({ issues }) => issues)],
    warnings: others.flatMap(({ warnings }) => warnings ?? []),
  };
}

// `providerConfigSchema` reports a part that is not an object.
export const skipped = { issues: [] };

/** Reads the lists, of which `source` and `kustomization` are short forms with one entry. */
export function readLists(object: JsonObject, place: Place) {
  const sources = readList(object, ['sources', 'source'], place, readSource);
  const kustomizations = readList(object, ['kustomizations', 'kustomization'], place, readKustomization);
  const listed = {
    ...(sources && { source: 'sources[0]' }),
    ...(kustomizations && { kustomization: 'kustomizations[0]' }),
  };
  return {
    sources: sources && {
      ...sources,
      more: sources.more.map(({ value, place }) => ({ ...value, place: inside(place, 'template') })),
    },
    kustomizations: kustomizations && {
      ...kustomizations,
      more: kustomizations.more.map(({ value, place }) => ({ template: value, place: inside(place, 'template') })),
    },
    objects: Array.isArray(object.objects) ? readObjects(object.objects, inside(place, 'objects')) : undefined,
    listed: sources || kustomizations ? listed : undefined,
  };
}

/**
 * Reads a source.
 * @param index the position in `sources`; absent: the source is `source`
 */
export function readSource(value: unknown, place: Place, index?: number): Read<SourceLayer> {
  const written = asObject(withoutEmpty(value));
  if (written === undefined) return skipped;
  const strays = strayKeyIssues(sourcePart, written, place);
  const source = withoutStrayKeys(sourcePart, written);
  if (strays.length > 0 && source.template === undefined) return { issues: strays, isStray: true };
  const given = asObject(source.template);
  const tidied = withoutDroppedFields(
    tidyTemplate(source.template),
    asString(given?.kind) ?? '',
    inside(place, 'template'),
  );
  const template = withDefaultSecretRef(tidied.template, source.secretResourceName, index);
  const issues = [...strays, ...schemaIssues(place, sourceSchema, source)];
  const object = asObject(template);
  if (object === undefined) return { issues };
  const kind = SOURCE_KINDS.find((name) => name === object.kind) ?? unknownKind(object, place);
  // The spec can only be checked for a known kind.
  const all = [
    ...issues,
    ...(typeof kind === 'string' ? templateIssues(source, object, kind, place, index !== undefined) : [kind]),
    ...entryIssues(object, place, index),
  ];
  if (all.length > 0) return { issues: all };
  const resourceName = asString(source.secretResourceName);
  const secret: SecretOrigin | undefined =
    resourceName === undefined ? fluxSourceOf(object, place) : { type: 'resource', resourceName };
  return { value: { template: object as unknown as Template, secret }, issues: [], warnings: tidied.warnings };
}

/** The project's own credentials, which a source of `flux-config` may name without an entry in `spec.resources`. */
function fluxSourceOf(template: JsonObject, place: Place): SecretOrigin | undefined {
  const name = asObject(asObject(template.spec)?.secretRef)?.name;
  return name === FLUX_SOURCE && isFluxConfigObject(place.object) ? { type: 'flux-source' } : undefined;
}

/** Returns the issues of an entry of `sources` or `kustomizations`. Only the first one has a default name. */
function entryIssues(template: JsonObject, place: Place, index: number | undefined): ConfigIssue[] {
  if (index === undefined || index === 0 || asObject(template.metadata)?.name !== undefined) return [];
  return [issueAt(place, 'template.metadata.name', 'is missing; set it, because only the first entry has a default')];
}

function templateIssues(
  source: JsonObject,
  template: JsonObject,
  kind: SourceKind,
  place: Place,
  isListed: boolean,
): ConfigIssue[] {
  return [
    ...schemaIssues(place, schemaOf(kind), template, ['template']),
    ...sourceIssues(source, template, kind, place, isListed),
  ];
}

const schemas = new Map<SourceKind, z.ZodMiniType>();

/** A schema takes longer to make than to check one template with it, and a list may have a hundred. */
function schemaOf(kind: SourceKind): z.ZodMiniType {
  const schema = schemas.get(kind) ?? sourceTemplateSchema(kind);
  schemas.set(kind, schema);
  return schema;
}

function unknownKind(template: JsonObject, place: Place): ConfigIssue {
  const [issue] = schemaIssues(place, z.object({ kind: z.enum(SOURCE_KINDS) }), template, ['template']);
  return issue ?? issueAt(place, 'template.kind', 'is not a valid value');
}

/** Early users of `secretResourceName` could omit `secretRef`, so it has a default; further sources have one of their own. */
function withDefaultSecretRef(template: unknown, secretResourceName: unknown, index = 0): unknown {
  const object = asObject(template);
  const spec = asObject(object?.spec);
  if (object === undefined || spec === undefined || secretResourceName === undefined) return template;
  const name = index === 0 ? 'flux-system' : asObject(object.metadata)?.name;
  return spec.secretRef === undefined ? { ...object, spec: { ...spec, secretRef: { name } } } : template;
}

/**
 * Reads a Kustomization.
 * @param index the position in `kustomizations`; absent: the Kustomization is `kustomization`
 */
export function readKustomization(value: unknown, place: Place, index?: number): Read<Template> {
  const written = asObject(withoutEmpty(value));
  if (written === undefined) return skipped;
  if (patchIn(written) !== undefined) {
    return index === undefined ? skipped : { issues: [issueAt(place, 'patch', PATCH_IN_LIST)] };
  }
  const strays = strayKeyIssues(kustomizationPart, written, place);
  const kustomization = withoutStrayKeys(kustomizationPart, written);
  if (strays.length > 0 && kustomization.template === undefined) return { issues: strays, isStray: true };
  const tidied = tidyTemplate(kustomization.template ?? {});
  const { template, warnings } = withoutDroppedFields(tidied, 'Kustomization', inside(place, 'template'));
  const issues = [...strays, ...schemaIssues(place, kustomizationSchema, { ...kustomization, template })];
  const object = asObject(template);
  if (object === undefined) return { issues };
  const all = [
    ...issues,
    ...schemaIssues(place, kustomizationTemplateSchema, object, ['template']),
    ...kustomizationIssues(asObject(object.spec) ?? {}, inside(place, 'template')),
    ...entryIssues(object, place, index),
  ];
  return all.length > 0 ? { issues: all } : { value: object as unknown as Template, issues: [], warnings };
}

const PATCH_IN_LIST =
  "is not possible in a list, whose entries are whole Kustomizations; write kustomization.patch to change the project's Kustomization, or template for another one";

/** Returns the patch of a `kustomization`, valid or not. */
export function patchIn(kustomization: unknown): unknown {
  return asObject(withoutEmpty(kustomization))?.patch;
}

export function readPatch(value: unknown, place: Place): Read<JsonObject> {
  const written = asObject(withoutEmpty(value)) ?? {};
  const { patch, ...others } = written;
  if (patch === undefined) return skipped;
  const issues = [
    ...strayKeyIssues(kustomizationPart, written, place),
    ...schemaIssues(place, patchOnlySchema, withoutStrayKeys(kustomizationPart, written)),
    ...(asObject(patch) === undefined ? [] : schemaIssues(place, kustomizationPatchSchema, patch, ['patch'])),
    ...(others.template === undefined
      ? []
      : [issueAt(place, 'patch', 'cannot be combined with template; remove one of them')]),
  ];
  return issues.length > 0 ? { issues } : { value: patch as JsonObject, issues: [] };
}

const patchOnlySchema = z.strictObject({ ...kustomizationSchema.shape, template: z.optional(z.unknown()) });

/** A part of a FluxConfig that holds a manifest below `template`. */
interface ManifestPart {
  /** What users call it: `source` or `Kustomization`. */
  name: string;
  known: readonly string[];
  /** Fields of its `spec`, which users write beside `template`. */
  specFields: ReadonlySet<string>;
}

const MANIFEST = ['apiVersion', 'kind', 'metadata', 'spec'];

/** The fields of sources that people write most. */
const sourcePart: ManifestPart = {
  name: 'source',
  known: ['template', 'secretResourceName'],
  specFields: new Set(
    'url ref branch tag semver interval timeout secretRef provider suspend ignore include verify bucketName endpoint recurseSubmodules serviceAccountName insecure layerSelector'.split(
      ' ',
    ),
  ),
};

/** The fields of Kustomizations. */
const kustomizationPart: ManifestPart = {
  name: 'Kustomization',
  known: ['template', 'patch'],
  specFields: new Set(
    'path interval prune sourceRef targetNamespace retryInterval timeout suspend wait force dependsOn patches images components postBuild decryption healthChecks healthCheckExprs kubeConfig serviceAccountName commonMetadata namePrefix nameSuffix deletionPolicy'.split(
      ' ',
    ),
  ),
};

/**
 * Returns the issues with keys beside `template`. A field of the manifest is the most frequent one, and a similar name would
 * be misleading: `path` is not `patch`.
 */
function strayKeyIssues(part: ManifestPart, entry: JsonObject, place: Place): ConfigIssue[] {
  const unknown = Object.keys(entry).filter((key) => !part.known.includes(key));
  const ofManifest = unknown.filter((key) => MANIFEST.includes(key) || part.specFields.has(key));
  const others = unknown.filter((key) => !ofManifest.includes(key)).slice(0, MOST_ISSUES_OF_A_PART);
  const [first, ...more] = ofManifest;
  return [
    ...(first === undefined ? [] : [issueAt(place, first, misplaced(part, entry, first, more))]),
    ...others.map((key) => issueAt(place, pathText([key]), unknownKey(key, part.known))),
  ];
}

function misplaced({ name, known }: ManifestPart, entry: JsonObject, key: string, more: string[]): string {
  const isSpec = !MANIFEST.includes(key);
  const below = (parent: string) => `${parent}.${isSpec ? 'spec.' : ''}${key}`;
  const what = `${more.length > 0 ? `(and ${more.join(', ')}) ` : ''}belongs to the ${isSpec ? 'spec' : 'manifest'} of a ${name}`;
  if (!known.includes('patch') || entry.template !== undefined) return `${what}; write ${below('template')}`;
  if (entry.patch !== undefined) return `${what}; write ${below('patch')}`;
  return `${what}; write ${below('patch')} to change the project's Kustomization, or ${below('template')} for another one`;
}

/** Returns the fields that the part knows. */
function withoutStrayKeys({ known }: ManifestPart, entry: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(entry).filter(([key]) => known.includes(key)));
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
  return { path: `source.${key}`, source: withKind(inner, kind) };
}

function withKind(source: JsonObject, kind: string): JsonObject {
  const template = asObject(source.template);
  return template === undefined ? source : { ...source, template: { kind, ...template } };
}
