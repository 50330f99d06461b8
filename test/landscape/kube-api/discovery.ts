import { apiVersionOf, type Definition } from './definition.ts';
import type { JsonObject } from './json.ts';
import type { Registry } from './registry.ts';

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** `/version`. */
export const version = {
  major: '1',
  minor: '36',
  emulationMajor: '1',
  emulationMinor: '36',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '35',
  gitVersion: 'v1.36.3',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '2026-01-01T00:00:00Z',
  goVersion: 'go1.26',
  compiler: 'gc',
  platform: 'linux/amd64',
};

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

function verbsOf({ custom, plural }: Definition): string[] {
  if (custom) return ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
  return plural === 'namespaces' ? verbs.filter((verb) => verb !== 'deletecollection') : verbs;
}

function describe(definition: Definition): JsonObject[] {
  const { plural, singular, namespaced, kind, shortNames, categories } = definition;
  const main: JsonObject = {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs: verbsOf(definition),
    ...(shortNames.length > 0 && { shortNames: [...shortNames] }),
    ...(categories.length > 0 && { categories: [...categories] }),
  };
  if (!definition.status) return [main];
  const part = { singularName: '', namespaced, kind, verbs: ['get', 'patch', 'update'] };
  return [main, { name: `${plural}/status`, ...part }];
}

/** `/openapi/v3`: enough for clients that ask which patches can be validated. */
export function openApiIndex(registry: Registry): JsonObject {
  const paths: JsonObject = {};
  for (const { group, version } of registry.all()) {
    const path = group === '' ? `api/${version}` : `apis/${group}/${version}`;
    paths[path] = { serverRelativeURL: `/openapi/v3/${path}` };
  }
  return { paths };
}

/** `/openapi/v3/<group version>`: the patches, without types. */
export function openApi(registry: Registry, group: string, version: string): JsonObject {
  const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const paths: JsonObject = {};
  for (const { plural, kind, namespaced, ...definition } of registry.all()) {
    if (definition.group !== group || definition.version !== version) continue;
    const path = namespaced ? `${base}/namespaces/{namespace}/${plural}/{name}` : `${base}/${plural}/{name}`;
    const query = (name: string) => ({ name, in: 'query', schema: { type: 'string', uniqueItems: true } });
    paths[path] = {
      patch: {
        parameters: [query('dryRun'), query('fieldManager'), query('fieldValidation')],
        responses: { 200: { description: 'OK' } },
        'x-kubernetes-action': 'patch',
        'x-kubernetes-group-version-kind': { group, version, kind },
      },
    };
  }
  return { openapi: '3.0.0', info: { title: 'Kubernetes', version: version }, paths, components: { schemas: {} } };
}
