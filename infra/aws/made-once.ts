import { createLog } from '../../shared/runtime/log.ts';
import { lambdaClusters } from './clusters.ts';
import { createEmfMetrics } from './emf.ts';
import { readEnvironment } from './settings.ts';

/** Makes a Lambda at its first invocation, and writes its metrics after each. */
export function madeOnce<E extends unknown[], R>(
  name: string,
  create: (parts: Awaited<ReturnType<typeof partsOf>>) => (...event: E) => Promise<R>,
): (...event: E) => Promise<R> {
  const make = async () => {
    const parts = await partsOf(name);
    return { run: create(parts), metrics: parts.metrics };
  };
  let made: ReturnType<typeof make> | undefined;
  return async (...event) => {
    made ??= make();
    const { run, metrics } = await made;
    try {
      return await run(...event);
    } finally {
      metrics.flush();
    }
  };
}

/** What every Lambda uses. */
async function partsOf(name: string) {
  const environment = await readEnvironment(process.env);
  const metrics = createEmfMetrics((line) => process.stdout.write(`${line}\n`));
  const { settings, logLevel } = environment;
  return { settings, kube: lambdaClusters(name, environment, process.env), log: createLog(logLevel), metrics };
}
