import type { KubeObject } from '../../kube/resource.ts';
import { stepByStep } from '../../steps.ts';
import type { Customisation, Customise } from '../customisation.ts';
import { patchSteps, withPatches } from '../patches/apply.ts';
import { customised } from './customised.ts';

export { parsePatches } from '../patches/parse-all.ts';

/** Changes an installation as all options say, and then as the patches say, which can change what the options have made. */
export const customisedAndPatched: Customise = (objects, customisation) =>
  withPatches(customised(objects, customisation), customisation);

/** Does the same; others get their turn meanwhile, because patches may take tens of milliseconds. @throws ConfigError */
export function customiseInTurns(objects: KubeObject[], customisation: Customisation): Promise<KubeObject[]> {
  return stepByStep(patchSteps(customised(objects, customisation), customisation));
}
