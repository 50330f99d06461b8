import { buildTools } from './tools/build.ts';
import { toolNames } from './tools/tool.ts';

/**
 * Builds the tools before the first suite, with progress on the screen and outside of any test's time limit. A failed
 * build is only reported here: the suites that need the tool fail with the same sentence, the others still run.
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
