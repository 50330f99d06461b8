import { nearest } from '../../config/nearest.ts';
import { originOf } from '../../config/origins.ts';
import { quote, shown } from '../../config/quote.ts';
import type { Patch, PatchTarget } from '../../config/types.ts';
import { asObject, type JsonObject } from '../../config/values.ts';
import { ConfigError, type ConfigIssue } from '../../errors.ts';
import type { Steps } from '../../event-loop.ts';
import type { KubeObject } from '../../kube/resource.ts';
import type { Customisation, Customised } from '../deployment.ts';
import { deletionProblem, patchProblem } from './guard.ts';
import { jsonPatched } from './json-patch.ts';
import { PatchProblem, parsedPatch } from './parse.ts';
import { beginChange, endPatch, type Patching, patchingOf, replaceAll } from './patching.ts';
import { selectorOf } from './select.ts';
import { strategicMerge } from './strategic-merge.ts';

/**
 * Applies the patches of the configuration to the installed objects, one after the other, in steps that each change one
 * object. The objects are not modified.
 * @throws ConfigError with what is wrong with the first patch that cannot be applied
 */
export function* patchSteps(objects: KubeObject[], customisation: Customisation): Steps<Customised> {
  const { install, origins } = customisation;
  const place = originOf(origins, 'flux.patches');
  const patching = patchingOf(objects, customisation);
  for (const [index, patch] of (install.patches ?? []).entries()) {
    try {
      yield* apply(patching, patch);
    } catch (error) {
      if (!(error instanceof PatchProblem)) throw error;
      const issue: ConfigIssue = { object: place.object, path: `${place.path}[${index}]`, message: error.message };
      throw new ConfigError([issue]);
    }
  }
  return { objects: patching.objects, added: patching.addedInAll };
}

type Change = (object: KubeObject) => KubeObject | undefined;

function* apply(patching: Patching, patch: Patch): Steps<void> {
  const parsed = parsedPatch(patch);
  if ('merges' in parsed) {
    const length = parsed.length / parsed.merges.length;
    for (const merge of parsed.merges) {
      yield* changeAll(patching, [named(patching.objects, merge)], (object) => mergedWith(object, merge), length);
    }
  } else {
    const change: Change =
      'operations' in parsed
        ? (object) => jsonPatched(object, parsed.operations)
        : (object) => mergedWith(object, parsed.merge);
    yield* changeAll(patching, selected(patching.objects, parsed.target), change, parsed.length);
  }
  endPatch(patching);
}

/** A merge keeps the identity of its object, as in kustomize. */
function mergedWith(object: KubeObject, patch: JsonObject): KubeObject | undefined {
  const { apiVersion: _version, kind: _kind, metadata, ...rest } = patch;
  const { name: _name, namespace: _namespace, ...others } = asObject(metadata) ?? {};
  return strategicMerge(object as unknown as JsonObject, { ...rest, metadata: others }) as KubeObject | undefined;
}

/** @param length of the patch, in characters of JSON */
function* changeAll(patching: Patching, targets: readonly KubeObject[], change: Change, length: number): Steps<void> {
  const results = new Map<KubeObject, KubeObject | undefined>();
  for (const object of targets) {
    beginChange(patching, object, length);
    const result = change(object);
    const problem =
      result === undefined ? deletionProblem(object) : patchProblem(object, result, patching.customisation);
    if (problem !== undefined) throw new PatchProblem(problem);
    results.set(object, result);
    yield;
  }
  yield* replaceAll(patching, results);
}

function selected(objects: KubeObject[], target: PatchTarget): KubeObject[] {
  const found = objects.filter(selectorOf(target));
  if (found.length > 0) return found;
  const { kind, name } = target;
  const fields = Object.entries(target).map(([field, value]) => `${field}: ${shown(String(value))}`);
  const what = `has target { ${fields.join(', ')} }, which selects no installed object`;
  const ofKind = objects.filter((object) => kind === undefined || object.kind === kind);
  if (ofKind.length > 0) throw missing(what, name, ofKind);
  const kinds = [...new Set(objects.map((object) => object.kind))];
  throw new PatchProblem(`${what}; installed kinds are ${kinds.join(', ')}`);
}

function named(objects: KubeObject[], patch: JsonObject): KubeObject {
  const { kind, apiVersion } = patch;
  const { name, namespace } = asObject(patch.metadata) ?? {};
  const ofKind = objects.filter((object) => object.kind === kind);
  const found = ofKind.find(
    (object) =>
      object.metadata.name === name &&
      (namespace === undefined || object.metadata.namespace === namespace) &&
      (apiVersion === undefined || object.apiVersion === apiVersion),
  );
  if (found !== undefined) return found;
  const what = `names ${shown(String(kind))} ${shown(String(name))}, which is not installed`;
  if (ofKind.length > 0) throw missing(what, String(name), ofKind);
  const kinds = [...new Set(objects.map((object) => object.kind))];
  throw new PatchProblem(`${what}; installed kinds are ${kinds.join(', ')}`);
}

/** How many names a sentence lists. */
const MOST_NAMES = 12;

function missing(what: string, name: string | undefined, objects: KubeObject[]): PatchProblem {
  const names = [...new Set(objects.map(({ metadata }) => metadata.name))];
  const suggestion = name === undefined || names.includes(name) ? undefined : nearest(name, names);
  if (suggestion !== undefined) return new PatchProblem(`${what}; did you mean ${quote(suggestion)}?`);
  const more = names.length > MOST_NAMES ? ' and others' : '';
  return new PatchProblem(`${what}; installed are ${names.slice(0, MOST_NAMES).join(', ')}${more}`);
}
