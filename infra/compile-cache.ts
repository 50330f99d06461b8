import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url));

/** Makes Node.js cache compiled modules: stripping types takes 0.3 s, and 40 MB that the process never frees. */
export function useCompileCache(): void {
  enableCompileCache(folder);
}
