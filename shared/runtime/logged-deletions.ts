import type { DeleteOptions, KubeClient } from '../kube/client.ts';
import type { ObjectName, Resource } from '../kube/resource.ts';
import type { Log } from './log.ts';

/**
 * Returns a client that logs each object that it deletes, with the reason. An object that did not exist any more is not
 * logged.
 * @param cluster `garden`, the name of a seed, or `shoot`
 */
export function withLoggedDeletions<T extends KubeClient>(client: T, cluster: string, log: Log): T {
  const deleted = async (resource: Resource, name: ObjectName, options: DeleteOptions) => {
    const existed = await client.delete(resource, name, options);
    if (existed) {
      const object = [resource.kind, [name.namespace, name.name].filter(Boolean).join('/')].join(' ');
      log.info('object deleted', { cluster, object, reason: options.reason });
    }
    return existed;
  };
  return { ...client, delete: deleted };
}
