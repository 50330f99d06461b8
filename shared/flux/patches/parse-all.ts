import type { Patch } from '../../config/types.ts';
import { yieldToOthers } from '../../event-loop.ts';
import { parseOnce } from './parse.ts';

/**
 * Parses all patches before they are applied. Others get their turn in between, because the parser is slow. A patch that
 * is wrong is reported when it is applied.
 */
export async function parsePatches(patches: readonly Patch[]): Promise<void> {
  for (const patch of patches) {
    await yieldToOthers();
    parseOnce(patch);
  }
}
