import type { ConfigIssue } from '../errors.ts';
import type { FluxConfig, Layer, Rooted, Template } from './layer.ts';
import { inside, issueAt, type Origins, type Place } from './origins.ts';
import { schemaIssues } from './schema.ts';
import { kustomizationTemplateSchema } from './templates.ts';
import { asObject, type JsonObject } from './values.ts';

const PART = 'kustomization';

/** What the layers say together, and which of them decides. */
export interface Merged {
  /** Highest first. */
  layers: readonly Layer[];
  content: FluxConfig;
  /** The layers that decide the source and the Kustomization. */
  sourceFrom: Layer;
  kustomizationFrom: Layer;
  origins: Origins;
  issues: ConfigIssue[];
}

/**
 * Merges layers: each option, part and list is taken as a whole from the highest layer that sets it, valid or not. What
 * exists in the shoot anyway is collected from all layers, and patches change the Kustomization of a lower layer.
 * @param layers highest first
 * @param base the layer that counts where none sets a source or Kustomization
 */
export function merged(layers: readonly Layer[], base: Layer): Merged {
  const sourceFrom = layers.find(({ sets }) => sets.source) ?? base;
  const kustomizationFrom = layers.find(({ sets }) => sets.kustomization) ?? base;
  const { kustomizations, ...patched } = patchedKustomization(layers, kustomizationFrom);
  const contents = layers.map(({ content }) => content);
  return {
    layers,
    sourceFrom,
    kustomizationFrom,
    content: {
      ...highest(contents),
      flux: highest(contents.map(({ flux }) => flux)),
      sources: sourceFrom.content.sources,
      kustomizations,
      existingSecrets: contents.flatMap(({ existingSecrets }) => existingSecrets ?? []),
      existingConfigMaps: contents.flatMap(({ existingConfigMaps }) => existingConfigMaps ?? []),
    },
    origins: { ...mergeOrigins(layers.map((layer) => layer.origins).reverse()), ...patched.origins },
    issues: patched.issues,
  };
}

/** Returns each field from the first object that has it. */
function highest<T extends object>(objects: readonly T[]): T {
  const fields = objects.toReversed().flatMap((object) => Object.entries(object));
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as T;
}

/** Merges the origins of layers, lowest first: a layer decides every field that it sets, with everything below it. */
function mergeOrigins(layers: readonly Origins[]): Origins {
  const decided = new Map<string, [path: string, origin: Place][]>();
  for (const layer of layers) {
    for (const [field, origins] of Map.groupBy(Object.entries(layer), ([path]) => fieldOf(path))) {
      // The order counts where two fields become one.
      decided.delete(field);
      decided.set(field, origins);
    }
  }
  // The effective list of components includes the extra ones.
  const entries = [...decided.values()].flat();
  return Object.fromEntries(
    entries.map(([path, origin]) => [path.replace(/^flux\.componentsExtra/, 'flux.components'), origin]),
  );
}

/** The unit of merging: an option of the installation, or a whole part such as `source`. */
function fieldOf(path: string): string {
  return /^(flux\.)?\w+/.exec(path)?.[0] ?? path;
}

/** The Kustomization of a lower layer with the patches of the higher ones. */
interface PatchedKustomization {
  kustomizations: Rooted | undefined;
  /** Where the patches set fields, by their paths in the effective configuration. */
  origins: Origins;
  issues: ConfigIssue[];
}

/**
 * Applies the patches of the layers above the one that sets the Kustomization, the lowest first. A patch below it has no
 * effect: a higher layer replaces the whole Kustomization.
 * @param layers highest first
 */
function patchedKustomization(layers: readonly Layer[], from: Layer): PatchedKustomization {
  const above = layers.slice(0, Math.max(0, layers.indexOf(from)));
  const patches = (from.sets.kustomization ? above : layers).filter(({ content }) => content.kustomizationPatch);
  const { kustomizations } = from.content;
  const [root, ...others] = kustomizations ?? [];
  if (!from.sets.kustomization) return { kustomizations, origins: {}, issues: patches.map(withoutTarget) };
  // An invalid template has been reported where it is.
  if (root === undefined || patches.length === 0) return { kustomizations, origins: {}, issues: [] };
  const { template, ...patched } = patchedBy(root.template, patches.toReversed());
  return { ...patched, kustomizations: [template && { ...root, template }, ...others] };
}

function withoutTarget(layer: Layer): ConfigIssue {
  const message = 'has no Kustomization to change, because no lower layer has one; use template instead of patch';
  return issueAt(layer, `${PART}.patch`, message);
}

/** @param layers lowest first, each with a patch */
function patchedBy(template: Template, layers: readonly Layer[]) {
  const origins = Object.assign({}, ...layers.map(patchOrigins)) as Origins;
  const steps: { merged: JsonObject; layer: Layer }[] = [];
  for (const layer of layers)
    steps.push({ merged: mergePatch(steps.at(-1)?.merged ?? template, patchOf(layer)), layer });
  const last = steps.at(-1);
  if (last === undefined || issuesOf(last).length === 0)
    return { template: (last?.merged ?? template) as unknown as Template, origins, issues: [] };
  // The first patch after which it is wrong; a later one may have removed the mistake of an earlier one.
  const issues = steps.map(issuesOf).find((found) => found.length > 0) ?? [];
  return { template: undefined, origins, issues };
}

/** Returns what is wrong with the Kustomization once this layer's patch has changed it. */
function issuesOf({ merged, layer }: { merged: JsonObject; layer: Layer }): ConfigIssue[] {
  return schemaIssues(inside(layer, `${PART}.patch`), kustomizationTemplateSchema, merged);
}

function patchOf({ content }: Layer): JsonObject {
  return content.kustomizationPatch ?? {};
}

/** Returns where the patch of a layer sets fields; none without a patch. */
export function patchOrigins(layer: Layer): Origins {
  const patch = patchOf(layer);
  const fields = ['metadata', 'spec'].flatMap((part) =>
    Object.keys(asObject(patch[part]) ?? {}).map((field) => `${part}.${field}`),
  );
  return Object.fromEntries(fields.map((field) => [`${PART}.${field}`, inside(layer, `${PART}.patch.${field}`)]));
}

/** Merges a patch, as RFC 7386 says: objects field by field, null removes a field, everything else is replaced, lists too. */
function mergePatch(target: unknown, patch: JsonObject): JsonObject {
  const fields = { ...asObject(target) };
  for (const [name, value] of Object.entries(patch)) {
    const inner = asObject(value);
    if (value === null) delete fields[name];
    else fields[name] = inner === undefined ? value : mergePatch(fields[name], inner);
  }
  return fields;
}
