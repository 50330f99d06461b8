import type { FluxInstall } from '../config/types.ts';
import type { KubeObject } from '../kube/resource.ts';
import type { Customisation, Customised } from './customisation.ts';

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

/**
 * Changes the objects of an installation beyond what `flux install` can. The code is loaded on demand, because most Shoots
 * do not need it. The given objects are not modified.
 * @throws ConfigError when a patch cannot be applied
 */
export async function customise(objects: KubeObject[], customisation: Customisation): Promise<Customised> {
  if (!isCustomised(customisation.install)) return { objects, added: 0 };
  const { customisedAndPatched } = await import('./custom/all.ts');
  return customisedAndPatched(objects, customisation);
}
