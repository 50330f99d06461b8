import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url));

/**
 * Makes Node.js cache compiled modules from here on: stripping the types of all files takes 0.3 s, and 40 MB that the
 * process never frees. The cache is inside the checkout, where write access already means control of the code. On a
 * read-only checkout there is no cache.
 */
export function useCompileCache(): void {
  enableCompileCache(folder);
}
