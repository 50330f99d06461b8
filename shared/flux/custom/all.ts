import type { Customise } from '../customisation.ts';
import { withPatches } from '../patches/apply.ts';
import { customised } from './customised.ts';

export { parsePatches } from '../patches/parse-all.ts';

/** Changes an installation as all options say, and then as the patches say, which can change what the options have made. */
export const customisedAndPatched: Customise = (objects, customisation) =>
  withPatches(customised(objects, customisation), customisation);
