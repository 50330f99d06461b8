/** Why a patch cannot be applied: the sentence behind its path. */
export class PatchProblem extends Error {
  override name = 'PatchProblem';
}
