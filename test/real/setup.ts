import { awsTools, lambdaRuntimeClient } from './tools/aws-tools.ts';
import { buildTools } from './tools/build.ts';
import { toolNames } from './tools/tool.ts';

/**
 * Makes the tools before the first suite, with progress on the screen and outside of any test's time limit. A failure is
 * only reported here: the suites that need the tool fail with the same sentence, the others still run.
 */
export default async function setup(): Promise<void> {
  for (const make of [...toolNames.map((name) => () => buildTools([name])), awsTools, lambdaRuntimeClient]) {
    try {
      await make();
    } catch (error) {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
}
