import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the young generation of this process at its initial size. A first sync makes hundreds of megabytes of short-
 * lived objects, for which V8 would grow it to 96 MB and never shrink it: 325 MB RSS instead of 165 MB with 50,000
 * objects, for a fifth more CPU. `--max-semi-space-size` would do the same, but only from the command line.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}
