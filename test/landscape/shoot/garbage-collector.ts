import { type Connection, createKubeClient, type KubeObject, type Resource, resources } from '../client/client.ts';
import type { Controller } from '../controllers/controller.ts';
import { startInformer } from '../controllers/informer.ts';
import { nameOf, objectText } from '../controllers/names.ts';
import { createWorkQueue } from '../controllers/work-queue.ts';

const FOREGROUND = 'foregroundDeletion';

/**
 * Does the part of kube-controller-manager that removes the finalizer of foreground deletion. No object in the landscape
 * has dependents that must be deleted first.
 */
export async function startGarbageCollector(connection: Connection): Promise<Controller> {
  const stopping = new AbortController();
  const client = createKubeClient(connection, { userAgent: 'kube-controller-manager', timeoutMs: 30_000 });

  const collect = (resource: Resource) => {
    const queue = createWorkQueue({
      async reconcile(key) {
        const found = await client.find(resource, nameOf(key));
        if (found === undefined || !isWaiting(found)) return undefined;
        const finalizers = found.metadata.finalizers?.filter((finalizer) => finalizer !== FOREGROUND);
        const patch = { metadata: { finalizers, resourceVersion: found.metadata.resourceVersion } };
        await client.mergePatch(resource, nameOf(key), patch, { fieldManager: 'kube-controller-manager' });
        return undefined;
      },
    });
    const options = { signal: stopping.signal };
    const informer = startInformer(client, resource, options, {
      onChange: (object) => {
        if (isWaiting(object)) queue.add(objectText(object.metadata));
      },
    });
    return { queue, informer };
  };

  const batch = { group: 'batch', version: 'v1', plural: 'jobs', kind: 'Job', namespaced: true };
  const apps = (plural: string, kind: string) => ({ group: 'apps', version: 'v1', plural, kind, namespaced: true });
  const kinds = [resources.deployments, apps('statefulsets', 'StatefulSet'), apps('daemonsets', 'DaemonSet'), batch];
  const collectors = kinds.map(collect);
  return {
    async stop() {
      stopping.abort();
      await Promise.all(collectors.map(({ queue }) => queue.stop()));
      await Promise.all(collectors.map(({ informer }) => informer.stopped));
      client.close();
    },
  };
}

function isWaiting({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(FOREGROUND) === true;
}
