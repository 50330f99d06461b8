import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SQSBatchResponse } from 'aws-lambda';
import { lazySqs } from '../../../events/sqs/connect.ts';
import { createQueues } from '../../../events/sqs/create-queues.ts';
import { startEmulator } from '../../../events/sqs/testing.ts';
import { recordOf } from '../../../events/testing.ts';
import { bundleFunction } from '../../../infra/bundle.ts';
import { findDefinitions } from '../../../infra/functions.ts';
import type { ChangeRequest } from '../../../shared/runtime/change-request.ts';
import { type Instance, startInstance } from '../../real/install/aws/lambda-instance.ts';
import { lambdaRuntimeClient } from '../../real/tools/aws-tools.ts';
import { lambdaEnvironment, QUEUE_PREFIX, serveSecrets } from './lambda-environment.ts';
import { SEED } from './objects.ts';
import { cpuSeconds } from './process-usage.ts';

/** What a warm instance of a Lambda needs for one change. */
export interface WarmRun {
  name: string;
  cpuMs: number;
  logBytes: number;
}

/** An instance has compiled and cached everything by then. */
const WARM_UP = 30;
const RUNS = 150;
/** The last ones; the instance keeps only the end of its output. */
const LOGGED_RUNS = 10;

/** Measures Lambdas under AWS's runtime client with changes for control planes that are at rest. */
export async function measureWarmRuns(kubeconfigFile: string, namespaces: readonly string[]): Promise<WarmRun[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-lambda-'));
  const queue = await startEmulator();
  const secrets = await serveSecrets(await readFile(kubeconfigFile, 'utf8'));
  const runtimeClient = await lambdaRuntimeClient();
  const definitions = await findDefinitions();
  const sqs = await lazySqs({ endpoint: queue.endpoint })();
  const measured: WarmRun[] = [];
  try {
    await createQueues(sqs, definitions, { prefix: QUEUE_PREFIX });
    for (const definition of definitions.filter(({ name }) => name in changes)) {
      const { name } = definition;
      await bundleFunction(definition, folder);
      const instance = await startInstance({
        ...{ name, runtimeClient, folder, handler: `${name}/index.handler`, timeoutSeconds: 10 },
        environment: lambdaEnvironment(queue.endpoint, secrets.endpoint),
      });
      try {
        await instance.ready;
        measured.push({ name, ...(await measure(instance, changes[name as keyof typeof changes], namespaces)) });
      } finally {
        await instance.kill();
      }
    }
  } finally {
    sqs.client.destroy();
    secrets.stop();
    await queue.stop();
    await rm(folder, { recursive: true });
  }
  return measured;
}

type MakeChange = (namespace: string, number: number) => ChangeRequest;

const keyIn = (namespace: string) => ({ cluster: SEED, namespace, name: 'shoot-flux' });
const resync =
  (name: string): MakeChange =>
  (namespace, epoch) => ({ function: name, key: keyIn(namespace), cause: { type: 'resync', epoch } });

/** What wakes the functions of a Shoot at rest. */
const changes = {
  'managed-resources': resync('managed-resources'),
  readiness: resync('readiness'),
  delay: (namespace, number) => ({
    ...{ function: 'readiness', key: keyIn(namespace) },
    cause: { type: 'notBefore', notBefore: new Date(Date.now() - 1000 - number).toISOString() },
  }),
} satisfies Record<string, MakeChange>;

async function measure(instance: Instance, change: MakeChange, namespaces: readonly string[]) {
  let number = 0;
  const run = async (times: number) => {
    for (let time = 0; time < times; time++) {
      const record = recordOf(change(namespaces[number % namespaces.length] ?? '', number++));
      const answer = (await instance.invoke({ Records: [record] })) as SQSBatchResponse;
      if (answer.batchItemFailures.length > 0) throw new Error(`A run has failed:\n${instance.output()}`);
    }
  };
  await run(WARM_UP);
  const before = cpuSeconds(instance.pid);
  await run(RUNS);
  const cpuMs = ((cpuSeconds(instance.pid) - before) * 1000) / RUNS;
  const [line = ''] =
    instance
      .output()
      .match(/[^\n]*"reconcile finished"[^\n]*\n/g)
      ?.slice(-1) ?? [];
  return { cpuMs, logBytes: bytesOfRun(instance.output(), line) };
}

/** Returns the mean length of what the last runs have written, from one line about a run to a later one. */
function bytesOfRun(output: string, last: string): number {
  const ends = [...output.matchAll(/"reconcile finished"[^\n]*\n/g)].map(({ index }) => index);
  const [from, to] = [ends.at(-1 - LOGGED_RUNS), ends.at(-1)];
  if (from === undefined || to === undefined) throw new Error(`There are too few lines like ${last}`);
  return (to - from) / LOGGED_RUNS;
}
