import type { KubeClient } from '../../shared/kube/client.ts';
import type { KubeObject, Resource } from '../../shared/kube/resource.ts';
import { eventually } from './stage.ts';

/** Every version of the objects of a kind in a namespace, as the API server has told them. */
export interface Followed<T extends KubeObject> extends AsyncDisposable {
  /** Waits until the version that is live now has been told. */
  versions(): Promise<T[]>;
}

/** Follows from now on. */
export async function follow<T extends KubeObject>(
  client: KubeClient,
  resource: Resource,
  namespace: string,
): Promise<Followed<T>> {
  const ending = new AbortController();
  const told: T[] = [];
  const { resourceVersion } = await client.list(resource, { namespace, metadataOnly: true });
  const watching = (async () => {
    const options = { namespace, resourceVersion, timeoutSeconds: 60, signal: ending.signal };
    for await (const { type, object } of client.watch(resource, options)) {
      if (type === 'ADDED' || type === 'MODIFIED') told.push(object as T);
    }
  })().catch(() => undefined);
  return {
    async versions() {
      const { items } = await client.list(resource, { namespace, metadataOnly: true });
      for (const { metadata } of items) {
        await eventually(
          `${resource.kind} ${metadata.name} in version ${metadata.resourceVersion}`,
          async () => told.map((object) => object.metadata.resourceVersion),
          (seen) => seen.includes(metadata.resourceVersion) || metadata.resourceVersion === undefined,
        );
      }
      return told;
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      await watching;
    },
  };
}
