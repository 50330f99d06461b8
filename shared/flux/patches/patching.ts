import { limits, limitText } from '../../config/limits.ts';
import type { Steps } from '../../event-loop.ts';
import type { KubeObject } from '../../kube/resource.ts';
import type { Customisation } from '../deployment.ts';
import { growth, lengthOf } from './growth.ts';
import { PatchProblem } from './parse.ts';

/** The objects of an installation while patches are applied to them, and how much the patches do. */
export interface Patching {
  objects: KubeObject[];
  readonly customisation: Customisation;
  /** What patches have added to an object, in characters of JSON. */
  readonly added: Map<KubeObject, number>;
  /** What they have added to all objects. */
  addedInAll: number;
  /** What they have read, in characters of JSON. */
  work: number;
}

export function patchingOf(objects: KubeObject[], customisation: Customisation): Patching {
  return { objects, customisation, added: new Map(), addedInAll: 0, work: 0 };
}

/**
 * Counts a change of one object before it is made: it reads the patch, and what patches before it have added to the object.
 * @throws PatchProblem where it would be too much
 */
export function beginChange(patching: Patching, object: KubeObject, length: number): void {
  patching.work += length + Math.max(0, patching.added.get(object) ?? 0);
  if (patching.work > limits.patching.most * 1024) {
    throw new PatchProblem(
      `exceeds what all patches together may change, ${limitText(limits.patching)}; patch fewer objects`,
    );
  }
}

/** Replaces objects by what a patch has made of them; undefined: it has deleted them. */
export function* replaceAll(patching: Patching, results: ReadonlyMap<KubeObject, KubeObject | undefined>): Steps<void> {
  for (const [object, result] of results) {
    const grown = result === undefined ? -lengthOf(object) : growth(object, result);
    patching.addedInAll += grown;
    const before = patching.added.get(object) ?? 0;
    patching.added.delete(object);
    if (result !== undefined) patching.added.set(result, before + grown);
    yield;
  }
  patching.objects = patching.objects.flatMap((object) =>
    results.has(object) ? (results.get(object) ?? []) : [object],
  );
}

/** @throws PatchProblem where the objects have become too long */
export function endPatch({ addedInAll }: Patching): void {
  if (addedInAll > limits.patched.most * 1024) {
    throw new PatchProblem(`makes the objects longer by more than ${limitText(limits.patched)}; patch fewer objects`);
  }
}
