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
  return patches.reduceRight<PatchedKustomization>(applyPatch, { template, origins: {}, issues: [] });
}

function withoutTarget(layer: Layer): ConfigIssue {
  const message = 'has no Kustomization to change, because no lower layer has one; use template instead of patch';
  return issueAt(layer, `${PART}.patch`, message);
}

function applyPatch(lower: PatchedKustomization, layer: Layer): PatchedKustomization {
  const patch = layer.content.kustomizationPatch;
  // An invalid template has been reported where it is.
  if (lower.template === undefined || patch === undefined) return lower;
  const merged = mergePatch(lower.template, patch) as JsonObject;
  const place = inside(layer, PART);
  const issues = [
    ...schemaIssues(place, kustomizationTemplateSchema, merged, ['template']),
    ...kustomizationIssues(merged, place),
  ].map((issue) => ({ ...issue, path: issue.path.replace(`${place.path}.template`, `${place.path}.patch`) }));
  return {
    template: issues.length > 0 ? undefined : (merged as unknown as Template),
    origins: { ...lower.origins, ...patchOrigins(layer) },
    issues: [...lower.issues, ...issues],
  };
}

/** Returns where the patch of a layer sets fields; none without a patch. */
export function patchOrigins(layer: Layer): Origins {
  const patch = layer.content.kustomizationPatch ?? {};
  const fields = ['metadata', 'spec'].flatMap((part) =>
    Object.keys(asObject(patch[part]) ?? {}).map((field) => `${part}.${field}`),
  );
  return Object.fromEntries(fields.map((field) => [`${PART}.${field}`, inside(layer, `${PART}.patch.${field}`)]));
}

/** Merges as RFC 7386 says: objects field by field, null removes a field, everything else is replaced, lists too. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  const fields = asObject(patch);
  if (fields === undefined) return patch;
  const merged = new Map(Object.entries(asObject(target) ?? {}));
  for (const [name, value] of Object.entries(fields)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}
