import { type Connection, isNotFound, type Resource } from '../client/client.ts';
import { createTransport } from '../client/transport.ts';

interface ResourceList {
  resources?: { name: string; kind: string; namespaced: boolean }[];
}

interface Group {
  preferredVersion?: { groupVersion: string };
  versions?: { groupVersion: string }[];
}

export type Discovery = ReturnType<typeof createDiscovery>;

/** Finds where a kind is served, as a REST mapper does. It caches hits and asks again after misses. */
export function createDiscovery(connection: Connection) {
  const transport = createTransport(connection, { userAgent: 'landscape/discovery' });
  const known = new Map<string, Resource>();

  const get = async <T>(path: string): Promise<T | undefined> => {
    try {
      return await transport.call<T>({ method: 'GET', path });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };

  const load = async (apiVersion: string) => {
    const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    const list = await get<ResourceList>(`${group === '' ? '/api' : '/apis'}/${apiVersion}`);
    for (const { name, kind, namespaced } of list?.resources ?? []) {
      if (name.includes('/')) continue;
      const resource = { group: group ?? '', version: version ?? '', plural: name, kind, namespaced };
      known.set(`${apiVersion}/${kind}`, resource);
    }
  };

  /** undefined: no such kind is served. */
  const find = async (apiVersion: string, kind: string) => {
    const key = `${apiVersion}/${kind}`;
    if (!known.has(key)) await load(apiVersion);
    return known.get(key);
  };

  return {
    find,
    /** Returns the resource in the group's preferred version; undefined while it is not served. */
    async preferred(group: string, kind: string) {
      const described = await get<Group>(`/apis/${group}`);
      const versions = [described?.preferredVersion, ...(described?.versions ?? [])].filter(
        (entry) => entry !== undefined,
      );
      for (const { groupVersion } of versions) {
        const resource = await find(groupVersion, kind);
        if (resource !== undefined) return resource;
      }
      return undefined;
    },
    close: () => transport.close(),
  };
}
