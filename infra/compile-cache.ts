import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url));

/**
 * Lets Node keep what it compiles: stripping the types of all files takes 0.3 s and 40 MB that a process never gives
 * back. The cache lies within the checkout, because whoever may write there could change the code itself; where nobody
 * may, there is none. It counts for what is imported afterwards.
 */
export function useCompileCache(): void {
  enableCompileCache(folder);
}
