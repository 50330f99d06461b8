import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Defaults and policy of the landscape, where there are some, from the root of the package. */
export const LANDSCAPE = 'dist/landscape.json';

/** Returns the path of this file if the folder has it, else an empty text. Default: the folder of the checkout. */
export function packagedLandscape(folder = new URL('../../../', import.meta.url)): string {
  return existsSync(fileURLToPath(new URL(LANDSCAPE, folder))) ? LANDSCAPE : '';
}
