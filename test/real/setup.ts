import { buildTools } from './tools/build.ts';
import { toolNames } from './tools/tool.ts';

/**
 * Builds what the suites start before the first of them starts it: with progress on the screen, and not within the
 * time limit of some test. What cannot be built is only reported here; the suites that need it fail with the same
 * sentence, the others still run.
 */
export default async function setup(): Promise<void> {
  for (const name of toolNames) {
    try {
      await buildTools([name]);
    } catch (error) {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
}
