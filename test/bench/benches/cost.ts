import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import {
  type Activity,
  type ActivityName,
  activities,
  lineOf,
  measureTexts,
  usage,
} from '../../../infra/docs/cost/inputs.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { bench, type Line, type Measured, type Progress } from '../bench.ts';
import type { CostKind, CostReport, CostTransport } from '../cost-process.ts';
import { startEmbeddedClusters } from '../landscape/embedded-clusters.ts';
import { copyShoots, modelShoot } from '../landscape/model-shoot.ts';
import { controlPlane, fluxConfig, namespace, PROJECT_NAMESPACE } from '../landscape/objects.ts';
import { measureWarmRuns } from '../landscape/warm-lambda.ts';

const GIVE_UP_MS = 900_000;
const SHOOTS = 4;
const write = { fieldManager: 'bench' };

const counted = (Object.keys(activities) as ActivityName[]).flatMap((activity) =>
  (Object.keys(measureTexts) as (keyof Activity)[]).map((measure) => ({ activity, measure })),
);

/**
 * The inputs of the model of costs in docs/choosing.md. Shoots live some hours on a fast clock, with queues in an SQS
 * emulator and with a broker: requests are counted at the API servers and at the wire. Lambdas under AWS's runtime client handle
 * changes that change nothing.
 */
export const costBench = bench('cost', linesOf(), async (progress) => {
  const [followed, released] = await Promise.all([
    reportOf('followed', 'sqs', progress),
    reportOf('released', 'sqs', progress),
  ]);
  const [followedByEvents, releasedByEvents] = await Promise.all([
    reportOf('followed', 'knative', progress),
    reportOf('released', 'knative', progress),
  ]);
  const withEvents = (counted: Activity, { events }: Activity): Activity => ({ ...counted, events });
  const measured: Record<ActivityName, Activity> = {
    followed: withEvents(followed.atRest, followedByEvents.atRest),
    released: withEvents(released.atRest, releasedByEvents.atRest),
    edit: withEvents(followed.edit, followedByEvents.edit),
    reconcile: withEvents(followed.reconcile, followedByEvents.reconcile),
    create: withEvents(followed.create, followedByEvents.create),
  };
  const counts = counted.map(({ activity, measure }): [string, Measured] => [
    lineOf(activity, measure),
    { value: measured[activity][measure] },
  ]);
  return { ...Object.fromEntries(counts), ...(await warmLambdas(progress)) };
});

/** The limits are what the model assumes. */
function linesOf(): Record<string, Line> {
  const counts = counted.map(({ activity, measure }): [string, Line] => {
    const what = lineOf(activity, measure);
    return [what, { what, unit: measureTexts[measure].unit, atMost: activities[activity][measure] }];
  });
  const others = Object.values(usage)
    .filter((input) => input.bench === 'cost')
    .map(({ line, unit, value }): [string, Line] => [line, { what: line, unit, atMost: value }]);
  return Object.fromEntries([...counts, ...others]);
}

async function reportOf(kind: CostKind, transport: CostTransport, progress: Progress): Promise<CostReport> {
  const child = fork(join(import.meta.dirname, '..', 'cost-process.ts'), [kind, transport], { execArgv: [] });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The process for ${kind} Shoots on ${transport} ended with exit code ${code} before it reported.`);
  });
  try {
    const message = once(child, 'message', { signal: AbortSignal.timeout(GIVE_UP_MS) });
    const [report] = (await Promise.race([message, ended])) as [CostReport];
    for (const name of ['atRest', 'edit', 'reconcile', 'create'] as const) {
      progress(`${kind}, ${transport}: ${name}: ${JSON.stringify(report[name])}`);
    }
    return report;
  } finally {
    child.kill();
    ended.catch(() => {});
  }
}

/** Measures the functions that look at a followed Shoot at rest. */
async function warmLambdas(progress: Progress): Promise<Record<string, Measured>> {
  await using clusters = await startEmbeddedClusters({ shoot: true }, [...gardenCrds(), ...seedCrds()]);
  const { seed } = clusters;
  const names = Array.from({ length: SHOOTS }, (_, number) => controlPlane(1 + number));
  for (const name of [PROJECT_NAMESPACE, ...names]) {
    await seed.client.create(resources.namespaces, namespace(name), write);
  }
  await seed.client.create(resources.configMaps, fluxConfig('Reconcile'), write);
  await copyShoots(seed, await modelShoot(clusters, progress), names, progress);
  const runs = await measureWarmRuns(seed.kubeconfigFile, names);
  const most = (measure: 'cpuMs' | 'logBytes') => Math.max(...runs.map((run) => run[measure]));
  const note = runs.map(({ name, cpuMs, logBytes }) => `${name} ${cpuMs.toFixed(1)} ms, ${logBytes.toFixed(0)} bytes`);
  return {
    [usage.warmCpuMs.line]: { value: most('cpuMs'), note: note.join('; ') },
    [usage.logBytes.line]: { value: most('logBytes') },
  };
}
