import type { ConfigIssue } from '../errors.ts';
import { schemaIssues } from './issues.ts';
import type { Layer, Template } from './layer.ts';
import type { Origins } from './origins.ts';
import { inside, issueAt } from './place.ts';
import { kustomizationIssues } from './template-rules.ts';
import { kustomizationTemplateSchema } from './templates.ts';
import { asObject, type JsonObject } from './values.ts';

const PART = 'kustomization';

/** The Kustomization of a lower layer with the patches of the higher ones. */
export interface PatchedKustomization {
  template: Template | undefined;
  /** Where the patches set fields, by their paths in the effective configuration. */
  origins: Origins;
  issues: ConfigIssue[];
}

/**
 * Applies the patches of the layers above the one that sets the Kustomization, the lowest first. A patch below it has no
 * effect: a higher layer replaces the whole Kustomization.
 * @param layers highest first
 */
export function patchedKustomization(layers: readonly Layer[], from: Layer): PatchedKustomization {
  const above = layers.slice(0, Math.max(0, layers.indexOf(from)));
  const patches = (from.sets.kustomization ? above : layers).filter(({ content }) => content.kustomizationPatch);
  const template = from.content.kustomization;
  if (!from.sets.kustomization) return { template, origins: {}, issues: patches.map(withoutTarget) };
  // An invalid template has been reported where it is.
  if (template === undefined || patches.length === 0) return { template, origins: {}, issues: [] };
  return patchedBy(template, patches.toReversed());
}

function withoutTarget(layer: Layer): ConfigIssue {
  const message = 'has no Kustomization to change, because no lower layer has one; use template instead of patch';
  return issueAt(layer, `${PART}.patch`, message);
}

/** @param layers lowest first, each with a patch */
function patchedBy(template: Template, layers: readonly Layer[]): PatchedKustomization {
  const after = (count: number) => {
    const merged = mergePatches(template, layers.slice(0, count).map(patchOf));
    return { merged, issues: issuesOf(merged, layers[count - 1] as Layer) };
  };
  const origins = Object.assign({}, ...layers.map(patchOrigins)) as Origins;
  const { merged, issues } = after(layers.length);
  if (issues.length === 0) return { template: merged as unknown as Template, origins, issues };
  const first = firstOf(layers.length, (count) => after(count).issues.length > 0);
  return { template: undefined, origins, issues: after(first).issues };
}

/** Returns what is wrong with the Kustomization once this layer's patch has changed it. */
function issuesOf(merged: JsonObject, layer: Layer): ConfigIssue[] {
  const place = inside(layer, PART);
  return [
    ...schemaIssues(place, kustomizationTemplateSchema, merged, ['template']),
    ...kustomizationIssues(merged, place),
  ].map((issue) => ({ ...issue, path: issue.path.replace(`${place.path}.template`, `${place.path}.patch`) }));
}

/**
 * Binary search for the smallest count in 1..most for which `holds` is true; `holds(most)` has to be true. Each check takes
 * milliseconds, and a project may write a hundred patches.
 */
function firstOf(most: number, holds: (count: number) => boolean): number {
  let [low, high] = [0, most];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
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

/**
 * Merges patches in turn, as RFC 7386 says: objects field by field, null removes a field, everything else is replaced,
 * lists too. Each takes as long as it is itself, however large the target has become.
 */
export function mergePatches(target: unknown, patches: readonly JsonObject[]): JsonObject {
  const fields = fieldsOf(target);
  for (const patch of patches) mergeInto(fields, patch);
  return objectOf(fields);
}

/** Of an object under change; a map, so that `__proto__` is a name like others. */
type Fields = Map<string, unknown>;

function fieldsOf(value: unknown): Fields {
  return value instanceof Map ? value : new Map(Object.entries(asObject(value) ?? {}));
}

function mergeInto(fields: Fields, patch: JsonObject): void {
  for (const [name, value] of Object.entries(patch)) {
    const inner = asObject(value);
    if (value === null) fields.delete(name);
    else if (inner === undefined) fields.set(name, value);
    else {
      const below = fieldsOf(fields.get(name));
      mergeInto(below, inner);
      fields.set(name, below);
    }
  }
}

function objectOf(fields: Fields): JsonObject {
  return Object.fromEntries(
    Array.from(fields, ([name, value]) => [name, value instanceof Map ? objectOf(value) : value]),
  );
}
