import type { Patch } from '../../shared/config/types.ts';
import { parsedPatch } from '../../shared/flux/patches/parse.ts';
import { PatchProblem } from '../../shared/flux/patches/problem.ts';
import { selectorOf } from '../../shared/flux/patches/select.ts';

/**
 * Returns what is wrong with the first patch that no installation could take, and its index: its text, its operations
 * or the patterns of its target. Which objects are installed is not known here.
 */
export function patchFormProblem(patches: readonly Patch[]): { index: number; message: string } | undefined {
  for (const [index, patch] of patches.entries()) {
    try {
      parsedPatch(patch);
      if (patch.target !== undefined) selectorOf(patch.target);
    } catch (error) {
      if (!(error instanceof PatchProblem)) throw error;
      return { index, message: error.message };
    }
  }
  return undefined;
}
