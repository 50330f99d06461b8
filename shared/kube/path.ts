import type { ObjectName, Resource } from './resource.ts';

type Query = Record<string, string | number | boolean | undefined>;

/** Returns `/api/v1/namespaces/foo/secrets` or `/apis/group/version/…`; without namespace for all namespaces. */
export function collectionPath(resource: Resource, namespace?: string): string {
  const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const scope = resource.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${scope}/${resource.plural}`;
}

/** Returns the path of one object, or of its subresource. */
export function objectPath(resource: Resource, name: ObjectName, subresource?: string): string {
  // An empty segment would address the whole collection, and DELETE would remove everything.
  if (name.name === '' || (resource.namespaced && !name.namespace)) {
    throw new TypeError(`${resource.kind} needs a name${resource.namespaced ? ' and a namespace' : ''}`);
  }
  const path = `${collectionPath(resource, name.namespace)}/${encodeURIComponent(name.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** Returns `?a=1&b=2` of the values that are defined, or an empty string. */
export function queryText(query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? '' : `?${search}`;
}
