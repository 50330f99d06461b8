import { apiVersionOf, type Definition } from './call.ts';
import type { JsonObject } from './json.ts';
import type { Registry } from './registry.ts';

const verbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

/** `/version`. */
export const version = { major: '1', minor: '36', gitVersion: 'v1.36.3' };

/** `/api`. */
export function coreVersions(address: string): JsonObject {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: address }],
  };
}

/** `/apis`. */
export function groups(registry: Registry): JsonObject {
  const names = new Set(registry.all().map(({ group }) => group));
  names.delete('');
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: [...names].map((name) => groupOf(registry, name)) };
}

/** `/apis/<group>`. */
export function group(registry: Registry, name: string): JsonObject | undefined {
  const served = registry.all().some((definition) => definition.group === name);
  return served && name !== '' ? { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(registry, name) } : undefined;
}

function groupOf(registry: Registry, name: string): JsonObject {
  const served = registry.all().filter((definition) => definition.group === name);
  const versions = [...new Set(served.map(({ version }) => version))].map((version) => ({
    groupVersion: `${name}/${version}`,
    version,
  }));
  return { name, versions, preferredVersion: versions[0] ?? {} };
}

/** `/api/v1` and `/apis/<group>/<version>`. */
export function resources(registry: Registry, group: string, version: string): JsonObject | undefined {
  const served = registry.all().filter((definition) => definition.group === group && definition.version === version);
  if (served.length === 0) return undefined;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersionOf({ group, version }),
    resources: served.flatMap(describe),
  };
}

function describe(definition: Definition): JsonObject[] {
  const { plural, singular, namespaced, kind } = definition;
  const main: JsonObject = { name: plural, singularName: singular, namespaced, kind, verbs };
  if (!definition.status) return [main];
  const part = { singularName: '', namespaced, kind, verbs: ['get', 'patch', 'update'] };
  return [main, { name: `${plural}/status`, ...part }];
}
