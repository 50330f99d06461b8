import { limits, limitText, MOST_ISSUES_OF_A_PART } from '../../config/limits.ts';
import { nearest } from '../../config/nearest.ts';
import { issueOf } from '../../config/origins.ts';
import { jsonPatched } from '../../config/patches/json-patch.ts';
import { PatchProblem, parsePatch } from '../../config/patches/parse.ts';
import { quote, shown } from '../../config/quote.ts';
import { fluxKinds, SOURCE_KINDS } from '../../config/templates.ts';
import type { Patch, PatchTarget } from '../../config/types.ts';
import { asObject, type JsonObject } from '../../config/values.ts';
import { ConfigError } from '../../errors.ts';
import type { KubeObject } from '../../kube/resource.ts';
import type { Customisation, Customised } from '../deployment.ts';
import { type Fault, faultsOf } from './faults.ts';
import { deletionProblem, FIXED, patchProblem } from './guard.ts';
import { selectorOf } from './select.ts';
import { strategicMerge } from './strategic-merge.ts';

/**
 * Applies the patches of the configuration to the installed objects, one after the other. The objects are not modified.
 * @throws ConfigError with what is wrong with the patches: those that cannot be applied, and what the others break
 */
export function patched(installed: KubeObject[], customisation: Customisation): Customised {
  const { stages, faults, ...result } = applied(installed, customisation);
  const issues = [...faults, ...faultsOf(stages, customisation)].map(({ patch, message }) =>
    issueOf(customisation.origins, `flux.patches[${patch}]`, message),
  );
  if (issues.length > 0) throw new ConfigError(issues.slice(0, MOST_ISSUES_OF_A_PART));
  return result;
}

interface Applied extends Customised {
  /** The installed objects, and those after each patch. One that cannot be applied changes nothing. */
  stages: KubeObject[][];
  /** Why patches cannot be applied. */
  faults: Fault[];
}

/** Applies the patches without a look at what they make together. */
export function applied(installed: KubeObject[], customisation: Customisation): Applied {
  const stages = [installed];
  const faults: Fault[] = [];
  let [objects, added] = [installed, 0];
  for (const [index, patch] of (customisation.install.patches ?? []).entries()) {
    try {
      ({ objects, added } = withPatch(objects, patch, added, customisation));
    } catch (error) {
      if (!(error instanceof PatchProblem)) throw error;
      // It may expect what an earlier one would have made.
      if (faults.length === 0 || !error.isOfState) faults.push({ patch: index, message: error.message });
    }
    stages.push(objects);
  }
  return { objects, added, stages, faults };
}

function withPatch(objects: KubeObject[], patch: Patch, addedBefore: number, customisation: Customisation): Customised {
  let [changed, added] = [objects, addedBefore];
  for (const { targetsAmong, change } of stepsOf(patch)) {
    const results = changeAll(targetsAmong(changed), change, customisation);
    for (const [object, result] of results) added += lengthOf(result) - lengthOf(object);
    changed = changed.flatMap((object) => (results.has(object) ? (results.get(object) ?? []) : [object]));
  }
  if (added > limits.patched.most * 1024) {
    throw new PatchProblem(`makes the objects longer by more than ${limitText(limits.patched)}; patch fewer objects`);
  }
  return { objects: changed, added };
}

/** A change of some of the objects. */
interface Step {
  targetsAmong(objects: KubeObject[]): KubeObject[];
  change: Change;
}

/** Returns undefined where it deletes the object. */
type Change = (object: KubeObject) => KubeObject | undefined;

function stepsOf(patch: Patch): Step[] {
  const parsed = parsePatch(patch);
  if ('merges' in parsed) {
    return parsed.merges.map((merge) => ({
      targetsAmong: (objects) => [named(objects, merge)],
      change: (object) => mergedWith(object, merge),
    }));
  }
  const change: Change =
    'operations' in parsed
      ? (object) => jsonPatched(object, parsed.operations)
      : (object) => mergedWith(object, parsed.merge);
  return [{ targetsAmong: (objects) => selected(objects, parsed.target), change }];
}

/** A merge keeps the identity of its object, as in kustomize. */
function mergedWith(object: KubeObject, patch: JsonObject): KubeObject | undefined {
  const { apiVersion: _version, kind: _kind, metadata, ...rest } = patch;
  const { name: _name, namespace: _namespace, ...others } = asObject(metadata) ?? {};
  return strategicMerge(object as unknown as JsonObject, { ...rest, metadata: others }) as KubeObject | undefined;
}

function changeAll(targets: readonly KubeObject[], change: Change, customisation: Customisation) {
  const results = new Map<KubeObject, KubeObject | undefined>();
  for (const object of targets) {
    const result = change(object);
    const problem = result === undefined ? deletionProblem(object) : patchProblem(object, result, customisation);
    if (problem !== undefined) throw new PatchProblem(problem);
    // A cache of installations has room for their schemas only once.
    const isFixed = result !== undefined && FIXED.includes(object.kind);
    results.set(object, isFixed ? { ...object, metadata: result.metadata } : result);
  }
  return results;
}

/** Returns how many characters of JSON an object has. */
function lengthOf(object: KubeObject | undefined): number {
  return JSON.stringify(object)?.length ?? 0;
}

function selected(objects: KubeObject[], target: PatchTarget): KubeObject[] {
  const found = objects.filter(selectorOf(target));
  if (found.length > 0) return found;
  const { kind, name, group } = target;
  const fields = Object.entries(target).map(([field, value]) => `${field}: ${shown(String(value))}`);
  const what = `has target { ${fields.join(', ')} }, which selects no installed object`;
  const ofKind = selectorOf({ kind, group });
  throw (objects.some(ofKind) ? undefined : elsewhere(what, kind, ofKind)) ?? missing(what, kind, name, objects);
}

/** Objects for Flux are no part of the installation, and the configuration has their fields. */
function elsewhere(what: string, kind = '', isMeant: (object: KubeObject) => boolean): PatchProblem | undefined {
  const all = Object.keys(fluxKinds);
  const found = all.filter((name) => name === nearest(kind, all) || isMeant(asInstalled(name)));
  if (found.length === 0) return undefined;
  const places = new Intl.ListFormat('en', { type: 'disjunction' }).format(new Set(found.map(placeOf)));
  return new PatchProblem(`${what}, because patches change only the installation of Flux; write its fields ${places}`);
}

const asInstalled = (kind: string): KubeObject => ({
  apiVersion: `${fluxKinds[kind]}/v1`,
  kind,
  metadata: { name: kind },
});

function placeOf(kind: string): string {
  if (kind === 'Kustomization') return 'in kustomization.template.spec (or kustomization.patch.spec, to keep the rest)';
  return SOURCE_KINDS.some((one) => one === kind) ? 'in source.template.spec' : 'in the spec of its entry of objects';
}

function named(objects: KubeObject[], patch: JsonObject): KubeObject {
  const { kind, apiVersion } = patch;
  const { name, namespace } = asObject(patch.metadata) ?? {};
  const found = objects.find(
    (object) =>
      object.kind === kind &&
      object.metadata.name === name &&
      (namespace === undefined || object.metadata.namespace === namespace) &&
      (apiVersion === undefined || object.apiVersion === apiVersion),
  );
  if (found !== undefined) return found;
  const what = `names ${shown(String(kind))} ${shown(String(name))}, which is not installed`;
  throw elsewhere(what, String(kind), () => false) ?? missing(what, String(kind), String(name), objects);
}

/** How many names a sentence lists. */
const MOST_NAMES = 12;

function missing(
  what: string,
  kind: string | undefined,
  name: string | undefined,
  objects: KubeObject[],
): PatchProblem {
  const ofKind = objects.filter((object) => kind === undefined || object.kind === kind);
  const names = [...new Set(ofKind.map(({ metadata }) => metadata.name))];
  if (names.length === 0) {
    const kinds = [...new Set(objects.map((object) => object.kind))];
    return new PatchProblem(`${what}; installed kinds are ${kinds.join(', ')}`);
  }
  const suggestion = name === undefined || names.includes(name) ? undefined : nearest(name, names);
  if (suggestion !== undefined) return new PatchProblem(`${what}; did you mean ${quote(suggestion)}?`);
  const more = names.length > MOST_NAMES ? ' and others' : '';
  return new PatchProblem(`${what}; installed are ${names.slice(0, MOST_NAMES).join(', ')}${more}`);
}
