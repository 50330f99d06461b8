import type { FluxConfigMap } from '../flux-config-map.ts';
import type { ConfigInputs } from '../types.ts';
import { areListedRulesLoaded, hasLists, lists } from './rules.ts';

/** Loads the code for lists if one of the inputs may have any. */
export async function loadListedRules({
  landscape,
  fluxConfig,
  providerConfig,
}: Pick<ConfigInputs, 'landscape' | 'fluxConfig' | 'providerConfig'>): Promise<void> {
  const mayHaveLists = [providerConfig, landscape?.defaults].some(hasLists) || hasDocuments(fluxConfig);
  if (!areListedRulesLoaded() && mayHaveLists) await import('./all.ts');
}

/** Whole documents may have lists at any place. */
function hasDocuments(fluxConfig: FluxConfigMap | undefined): boolean {
  return Object.entries(fluxConfig?.data ?? {}).some(
    ([key, value]) => key.endsWith('.yaml') && lists.some((list) => String(value).includes(list)),
  );
}
