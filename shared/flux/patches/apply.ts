import { limits, limitText } from '../../config/limits.ts';
import { nearest } from '../../config/nearest.ts';
import { originOf } from '../../config/origins.ts';
import { quote, shown } from '../../config/quote.ts';
import type { Patch } from '../../config/types.ts';
import { asObject, type JsonObject } from '../../config/values.ts';
import { ConfigError, type ConfigIssue } from '../../errors.ts';
import type { KubeObject } from '../../kube/resource.ts';
import type { Customisation } from '../customisation.ts';
import { SEVERAL, WITHOUT_TARGET } from './form.ts';
import { deletionProblem, patchProblem } from './guard.ts';
import { jsonPatched } from './json-patch.ts';
import { parsePatch } from './parse.ts';
import { PatchProblem } from './problem.ts';
import { selectorOf } from './select.ts';
import { strategicMerge } from './strategic-merge.ts';

/**
 * Applies the patches of the configuration to the installed objects, one after the other. The objects are not modified.
 * @throws ConfigError with what is wrong with the first patch that cannot be applied
 */
export function withPatches(objects: KubeObject[], customisation: Customisation): KubeObject[] {
  const { install, origins } = customisation;
  const place = originOf(origins, 'flux.patches');
  let added = 0;
  return (install.patches ?? []).reduce((patched, patch, index) => {
    const fail = (problem: string, field = ''): never => {
      const issue: ConfigIssue = { object: place.object, path: `${place.path}[${index}]${field}`, message: problem };
      throw new ConfigError([issue]);
    };
    try {
      const result = withPatch(patched, patch, customisation);
      added += growth(patched, result);
      return added > limits.patched.most * 1024
        ? fail(`makes the objects longer by more than ${limitText(limits.patched)}; patch fewer objects`)
        : result;
    } catch (error) {
      if (!(error instanceof PatchProblem)) throw error;
      return fail(error.message);
    }
  }, objects);
}

/** How many characters of JSON a patch adds. Only fields that it has changed are counted: CRDs are long. */
function growth(before: readonly KubeObject[], after: readonly KubeObject[]): number {
  const [old, next] = [new Set(before), new Set(after)];
  const removed = before.filter((object) => !next.has(object));
  const changed = after.filter((object) => !old.has(object));
  const kept = new Set(removed.flatMap((object) => Object.values(object)));
  const unchanged = new Set(changed.flatMap((object) => Object.values(object)).filter((value) => kept.has(value)));
  return lengthOf(changed, unchanged) - lengthOf(removed, unchanged);
}

function lengthOf(objects: readonly KubeObject[], without: ReadonlySet<unknown>): number {
  const fields = objects.flatMap((object) => Object.entries(object)).filter(([, value]) => !without.has(value));
  return fields.reduce((sum, [name, value]) => sum + name.length + (JSON.stringify(value)?.length ?? 0), 0);
}

type Change = (object: KubeObject) => KubeObject | undefined;

function withPatch(objects: KubeObject[], { patch, target }: Patch, customisation: Customisation): KubeObject[] {
  const parsed = parsePatch(patch);
  if ('operations' in parsed) {
    if (target === undefined) throw new PatchProblem(WITHOUT_TARGET);
    return changed(
      objects,
      selected(objects, target),
      (object) => jsonPatched(object, parsed.operations),
      customisation,
    );
  }
  const { merges } = parsed;
  const [first, ...others] = merges;
  if (target === undefined) {
    return merges.reduce(
      (result, merge) => changed(result, [named(result, merge)], (object) => mergedWith(object, merge), customisation),
      objects,
    );
  }
  if (first === undefined || others.length > 0) {
    throw new PatchProblem(SEVERAL);
  }
  return changed(objects, selected(objects, target), (object) => mergedWith(object, first), customisation);
}

/** A merge keeps the identity of its object, as in kustomize. */
function mergedWith(object: KubeObject, patch: JsonObject): KubeObject | undefined {
  const { apiVersion: _version, kind: _kind, metadata, ...rest } = patch;
  const { name: _name, namespace: _namespace, ...others } = asObject(metadata) ?? {};
  return strategicMerge(object as unknown as JsonObject, { ...rest, metadata: others }) as KubeObject | undefined;
}

function changed(
  objects: KubeObject[],
  targets: readonly KubeObject[],
  change: Change,
  customisation: Customisation,
): KubeObject[] {
  return objects.flatMap((object) => {
    if (!targets.includes(object)) return [object];
    const result = change(object);
    const problem = result === undefined ? deletionProblem(object) : patchProblem(object, result, customisation);
    if (problem !== undefined) throw new PatchProblem(problem);
    return result === undefined ? [] : [result];
  });
}

function selected(objects: KubeObject[], target: NonNullable<Patch['target']>): KubeObject[] {
  const found = objects.filter(selectorOf(target));
  if (found.length > 0) return found;
  const { kind, name } = target;
  const ofKind = objects.filter((object) => kind === undefined || object.kind === kind);
  if (ofKind.length === 0) {
    const kinds = [...new Set(objects.map((object) => object.kind))];
    throw new PatchProblem(`has a target without an installed object; installed kinds are ${kinds.join(', ')}`);
  }
  throw missing('has a target without an installed object', name, ofKind);
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
