import type { FluxInstall } from '../config/types.ts';
import type { Customise } from './customisation.ts';

/** Options that `flux install` does not have, and that change the objects of the installation. */
const customOptions = [
  'size',
  'priorityClass',
  'nodeSelector',
  'commonMetadata',
  'proxy',
  'storage',
  'sharding',
  'patches',
] as const satisfies readonly (keyof FluxInstall)[];

/** Returns true if the configuration changes the installation beyond what `flux install` can. */
export function isCustomised(install: FluxInstall): boolean {
  return customOptions.some((option) => install[option] !== undefined);
}

/** Loads the code that changes an installation; undefined if the configuration does not need it, as in most Shoots. */
export async function loadCustomise(install: FluxInstall): Promise<Customise | undefined> {
  if (!isCustomised(install)) return undefined;
  const { customisedAndPatched, parsePatches } = await import('./custom/all.ts');
  await parsePatches(install.patches ?? []);
  return customisedAndPatched;
}
