import type { Patch } from '../../config/types.ts';
import { parsedPatch } from './parse.ts';
import { PatchProblem } from './problem.ts';
import { selectorOf } from './select.ts';

/**
 * Returns what is wrong with the first patch that no installation could take, and its index: its text, its operations
 * or the patterns of its target. Which objects are installed is not known here.
 */
export function patchFormProblem(patches: readonly Patch[]): { index: number; message: string } | undefined {
  for (const [index, patch] of patches.entries()) {
    const { target } = patch;
    try {
      const parsed = parsedPatch(patch);
      if (target !== undefined) selectorOf(target);
      else if ('operations' in parsed) throw new PatchProblem(WITHOUT_TARGET);
      if (target !== undefined && 'merges' in parsed && parsed.merges.length > 1) throw new PatchProblem(SEVERAL);
    } catch (error) {
      if (!(error instanceof PatchProblem)) throw error;
      return { index, message: error.message };
    }
  }
  return undefined;
}

export const WITHOUT_TARGET = 'is a list of operations without a target; add a target';
export const SEVERAL = 'has several documents and a target; use one entry for each, or remove the target';
