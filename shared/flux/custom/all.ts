import { stepByStep } from '../../event-loop.ts';
import type { KubeObject } from '../../kube/resource.ts';
import type { Customisation, Customised } from '../customisation.ts';
import { patchSteps } from '../patches/apply.ts';
import { parsePatches } from '../patches/parse-all.ts';
import { customised } from './customised.ts';

/**
 * Changes an installation as all options say, and then as the patches say, which can change what the options have made.
 * Others get their turn meanwhile, because patches may take tens of milliseconds.
 * @throws ConfigError
 */
export async function customisedAndPatched(objects: KubeObject[], customisation: Customisation): Promise<Customised> {
  await parsePatches(customisation.install.patches ?? []);
  return stepByStep(patchSteps(customised(objects, customisation), customisation));
}
