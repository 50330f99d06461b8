import type { KubeClient } from '../../../shared/kube/client.ts';
import { resources } from '../../../shared/kube/resource.ts';

/** Records which CRDs and Deployments of a cluster are deleted from now on. */
export async function watchDeletions(client: KubeClient): Promise<AsyncDisposable & { seen(): Promise<string[]> }> {
  const stop = new AbortController();
  const seen: string[] = [];
  const watched = [resources.deployments, resources.customResourceDefinitions].map(async (resource) => {
    const { resourceVersion } = await client.list(resource, { metadataOnly: true });
    const options = { resourceVersion, timeoutSeconds: 600, metadataOnly: true, signal: stop.signal };
    for await (const { type, object } of client.watch(resource, options)) {
      const isGoing = type === 'DELETED' || object.metadata.deletionTimestamp !== undefined;
      if (isGoing) seen.push(`${resource.kind} ${object.metadata.name}`);
    }
  });
  const end = async () => {
    stop.abort();
    await Promise.allSettled(watched);
  };
  return {
    async seen() {
      await end();
      return seen;
    },
    [Symbol.asyncDispose]: end,
  };
}
