import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { GoneError } from '../../../shared/kube/errors.ts';
import type { KubeObject, Resource } from '../../../shared/kube/resource.ts';

const PAUSE_MS = 100;

/**
 * Yields each object that is created or changed after the version, until the signal, whether watches end or break. When
 * the version is too old, yields all objects.
 */
export async function* changes(
  client: KubeClient,
  resource: Resource,
  { signal, ...from }: { namespace?: string; resourceVersion: string; signal: AbortSignal },
): AsyncGenerator<KubeObject> {
  let { resourceVersion } = from;
  while (!signal.aborted) {
    try {
      const options = { ...from, resourceVersion, timeoutSeconds: 3600, signal };
      for await (const { type, object } of client.watch(resource, options)) {
        resourceVersion = object.metadata.resourceVersion ?? resourceVersion;
        if (type === 'ADDED' || type === 'MODIFIED') yield object;
      }
    } catch (error) {
      if (signal.aborted) return;
      await sleep(PAUSE_MS);
      if (!(error instanceof GoneError)) continue;
      const list = await client.list(resource, from.namespace === undefined ? {} : { namespace: from.namespace });
      ({ resourceVersion } = list);
      yield* list.items;
    }
  }
}
