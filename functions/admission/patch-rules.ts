import type { Layer } from '../../shared/config/layer.ts';
import { PROVIDER_CONFIG } from '../../shared/config/provider-config.ts';
import { asObject } from '../../shared/config/values.ts';
import type { ConfigIssue } from '../../shared/errors.ts';
import { EXTENSION_TYPE } from '../../shared/gardener/types.ts';
import type { patchFormProblem } from './patch-form.ts';

/** Returns what is wrong with the form of patches. */
export type PatchRules = typeof patchFormProblem;

/** Loads the rules, and the parser of YAML, for a Shoot whose providerConfig has patches; undefined for all others. */
export async function loadPatchRules(shoot: unknown): Promise<PatchRules | undefined> {
  const extensions = asObject(asObject(shoot)?.spec)?.extensions;
  const entries = Array.isArray(extensions) ? extensions.map(asObject) : [];
  const own = entries.find((entry) => entry?.type === EXTENSION_TYPE);
  const patches = asObject(asObject(own?.providerConfig)?.flux)?.patches;
  if (!Array.isArray(patches) || patches.length === 0) return undefined;
  return (await import('./patch-form.ts')).patchFormProblem;
}

/** Returns the issue of the first wrong patch. Patches with issues of their schema are not read. */
export function patchIssues({ content, issues }: Layer, rules: PatchRules | undefined): ConfigIssue[] {
  const { patches = [] } = content.flux;
  const problem = issues.length === 0 ? rules?.(patches) : undefined;
  if (problem === undefined) return [];
  return [{ object: PROVIDER_CONFIG, path: `flux.patches[${problem.index}]`, message: problem.message }];
}
