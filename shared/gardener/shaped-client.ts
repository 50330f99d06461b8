import type { KubeClient, ListOptions } from '../kube/client.ts';
import { KubeError } from '../kube/errors.ts';
import type { KubeObject } from '../kube/resource.ts';
import { shapedObject } from './shapes.ts';

/**
 * Returns a client for a shoot whose objects have their usual shape: its owner decides what its API answers, and a field
 * of another type must end in "unknown", not in a dead letter (shapes.ts).
 * @param name of the API server, for errors
 */
export function shapedClient(client: KubeClient, name: string): KubeClient {
  const shaped = <T extends KubeObject>(object: T): T => {
    try {
      return shapedObject(object);
    } catch (error) {
      throw new KubeError(
        `${name} answered with something that is not an object; check what serves its API.`,
        200,
        'NoObject',
        {
          cause: error,
        },
      );
    }
  };
  return {
    ...client,
    async find(resource, objectName, options) {
      const found = await client.find<KubeObject>(resource, objectName, options);
      return (found && shaped(found)) as never;
    },
    async list(resource, options: ListOptions = {}) {
      const { onItem } = options;
      const list = await client.list(resource, {
        ...options,
        ...(onItem && { onItem: (item: KubeObject, bytes: number) => onItem(shaped(item), bytes) }),
      });
      return { ...list, items: list.items.map(shaped) } as never;
    },
    create: async (resource, object, options) => shaped(await client.create(resource, object, options)),
    replace: async (resource, object, options) => shaped(await client.replace(resource, object, options)),
    apply: async (resource, object, options) => shaped(await client.apply(resource, object, options)) as never,
    mergePatch: async (resource, objectName, patch, options) =>
      shaped(await client.mergePatch(resource, objectName, patch, options)) as never,
  };
}
