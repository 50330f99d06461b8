import { setTimeout as sleep } from 'node:timers/promises';
import { type Extension, OPERATION_ANNOTATION, TIMESTAMP_ANNOTATION } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { resources } from '../../../shared/kube/resource.ts';

const write = { fieldManager: 'gardenlet' };
/** A request that takes longer counts with this time. */
const GIVE_UP_MS = 60_000;

/** How requests are made. */
interface RequestsOptions {
  everyMs: number;
  count: number;
}

/**
 * Asks for reconciliations as gardenlet does, one Shoot after the other whether or not the earlier ones were answered,
 * and returns for each the milliseconds until the product reports Succeeded.
 */
export async function requestReconciliations(
  client: KubeClient,
  namespaces: readonly string[],
  { everyMs, count }: RequestsOptions,
): Promise<number[]> {
  const answers: Promise<number>[] = [];
  for (let number = 0; number < count; number++) {
    const namespace = namespaces[number % namespaces.length];
    if (namespace !== undefined) answers.push(requestReconciliation(client, namespace));
    await sleep(everyMs);
  }
  return Promise.all(answers);
}

async function requestReconciliation(client: KubeClient, namespace: string): Promise<number> {
  const key = { namespace, name: 'shoot-flux' };
  const started = performance.now();
  const annotations = { [OPERATION_ANNOTATION]: 'reconcile', [TIMESTAMP_ANNOTATION]: new Date().toISOString() };
  const { metadata } = await client.mergePatch(resources.extensions, key, { metadata: { annotations } }, write);
  const signal = AbortSignal.timeout(GIVE_UP_MS);
  while (!signal.aborted) {
    const watched = client.watch(resources.extensions, {
      namespace,
      fieldSelector: 'metadata.name=shoot-flux',
      resourceVersion: metadata.resourceVersion ?? '',
      timeoutSeconds: 60,
      signal,
    });
    for await (const { object } of watched) {
      if (isAnswered(object as Extension)) return performance.now() - started;
    }
  }
  return GIVE_UP_MS;
}

function isAnswered({ metadata, status }: Extension): boolean {
  return metadata.annotations?.[OPERATION_ANNOTATION] === undefined && status?.lastOperation?.state === 'Succeeded';
}
