import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '../../shared/kube/resource.ts';
import type { ApiServer } from './cluster/api-server.ts';
import { requestJson } from './cluster/request.ts';

/** The objects of an API server by `kind namespace/name`, without fields that differ between runs. */
export type Dump = Record<string, unknown>;

interface Group {
  preferredVersion: { version: string };
  name: string;
}

interface Listed {
  name: string;
  kind: string;
  verbs: string[];
}

/** Objects that the server writes about itself, or with random content. */
const passedOver = new Set(['Lease', 'IPAddress', 'APIService', 'ComponentStatus', 'FlowSchema']);

/** Every three minutes the server compares Services and IPAddresses, and reports what was created in that moment. */
const isOwnReport = ({ reportingComponent }: KubeObject) => reportingComponent === 'ipallocator-repair-controller';

/** Reads every object of every kind that is served. */
export async function dump(server: ApiServer): Promise<Dump> {
  const get = <T>(path: string) => patiently(() => requestJson(server, 'GET', path) as Promise<T>);
  const { groups } = await get<{ groups: Group[] }>('/apis');
  const versions = [
    { group: '', version: 'v1' },
    ...groups.map(({ name, preferredVersion: { version } }) => ({ group: name, version })),
  ];
  const objects: Dump = {};
  for (const { group, version } of versions) {
    // Two API groups serve Events.
    if (group === 'events.k8s.io') continue;
    const apiVersion = group === '' ? version : `${group}/${version}`;
    const path = `${group === '' ? '/api' : '/apis'}/${apiVersion}`;
    const { resources } = await get<{ resources: Listed[] }>(path);
    for (const { name, kind, verbs } of resources) {
      if (!verbs.includes('list') || passedOver.has(kind)) continue;
      const { items } = await get<{ items: KubeObject[] }>(`${path}/${name}`);
      for (const item of items) {
        if (isOwnReport(item)) continue;
        const named = { ...item, apiVersion, kind };
        objects[unused(objects, title(named))] = settled(named);
      }
    }
  }
  return objects;
}

/** The first request for a kind with a new CRD may fail with "storage is (re)initializing". */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      if (attempt === 50 || !String(error).includes(': 429 ')) throw error;
      await sleep(100);
    }
  }
}

/** An Event's name is a hash of its content and of the uid of its object. */
const isEvent = ({ kind }: KubeObject) => kind === 'Event';

function title(object: KubeObject): string {
  const { namespace = '', name } = object.metadata;
  return `${object.kind} ${namespace}/${isEvent(object) ? `${object.reason}: ${object.message}` : name}`;
}

function unused(objects: Dump, wanted: string): string {
  let free = wanted;
  for (let count = 2; free in objects; count++) free = `${wanted} (${count})`;
  return free;
}

function settled(object: KubeObject): unknown {
  const { metadata, ...rest } = object;
  const { uid, resourceVersion, creationTimestamp, managedFields, generation, deletionTimestamp, ...kept } =
    metadata as KubeObject['metadata'] & { managedFields?: unknown };
  const { observedGeneration } = (rest.status ?? {}) as { observedGeneration?: number };
  return plain({
    ...rest,
    metadata: { ...kept, name: isEvent(object) ? '' : kept.name, deleting: deletionTimestamp !== undefined },
    observed: observedGeneration === undefined ? undefined : observedGeneration === generation,
  });
}

const chance = new Set(['uid', 'resourceVersion', 'observedGeneration', 'clusterIP', 'clusterIPs']);

/** Removes times and fields that the server sets. */
function plain(value: unknown): unknown {
  if (typeof value === 'string') return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? 'a time' : value;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => !chance.has(key));
  return Object.fromEntries(entries.map(([key, item]) => [key, plain(item)]));
}
