import type { KubeClient } from '../../shared/kube/client.ts';
import type { KubeObject, Resource } from '../../shared/kube/resource.ts';
import { eventually } from './stage.ts';

/** Every version of the objects of one kind in a namespace, as a watch reported them. */
export interface Followed<T extends KubeObject> extends AsyncDisposable {
  /** Waits until the watch has reported the current version. */
  versions(): Promise<T[]>;
}

/** Starts to follow. */
export async function follow<T extends KubeObject>(
  client: KubeClient,
  resource: Resource,
  namespace: string,
): Promise<Followed<T>> {
  const ending = new AbortController();
  const versions: T[] = [];
  const { resourceVersion } = await client.list(resource, { namespace, metadataOnly: true });
  const watching = (async () => {
    const options = { namespace, resourceVersion, timeoutSeconds: 3600, signal: ending.signal };
    for await (const { type, object } of client.watch(resource, options)) {
      if (type === 'ADDED' || type === 'MODIFIED') versions.push(object as T);
    }
  })().catch(() => undefined);
  return {
    async versions() {
      const { items } = await client.list(resource, { namespace, metadataOnly: true });
      for (const { metadata } of items) {
        await eventually(
          `${resource.kind} ${metadata.name} in version ${metadata.resourceVersion}`,
          async () => versions.map((object) => object.metadata.resourceVersion),
          (seen) => seen.includes(metadata.resourceVersion) || metadata.resourceVersion === undefined,
        );
      }
      return versions;
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      await watching;
    },
  };
}
