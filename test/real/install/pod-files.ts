import { join } from 'node:path';
import type { ApiServer } from '../cluster/api-server.ts';
import { requestJson } from '../cluster/request.ts';
import { serviceAccountToken } from './objects.ts';

/** The fields of a Pod that decide which files and variables its container has. */
export interface PodSpec {
  serviceAccountName: string;
  containers: ContainerSpec[];
  volumes: Volume[];
}

export interface ContainerSpec {
  args?: string[];
  env?: { name: string; value?: string; valueFrom?: { secretKeyRef: { name: string; key: string } } }[];
  volumeMounts: { name: string; mountPath: string; subPath?: string }[];
}

interface Volume {
  name: string;
  configMap?: { name: string };
  secret?: { secretName: string };
  projected?: { sources: Source[] };
}

interface Item {
  key: string;
  path: string;
}

interface Source {
  serviceAccountToken?: { path: string; audience?: string; expirationSeconds: number };
  configMap?: { name: string; items: Item[] };
  secret?: { name: string; items: Item[] };
  downwardAPI?: { items: { path: string }[] };
}

interface Place {
  cluster: ApiServer;
  namespace: string;
}

type Files = Record<string, string>;

/** Returns the content of the volumes of the first container by its path there. */
export async function filesOf({ cluster, namespace, spec }: Place & { spec: PodSpec }): Promise<Files> {
  const [container] = spec.containers;
  const mounted: Files = {};
  for (const { name, mountPath, subPath } of container?.volumeMounts ?? []) {
    const volume = spec.volumes.find((candidate) => candidate.name === name);
    const content = await contentOf({ cluster, namespace }, spec, volume);
    if (subPath === undefined) {
      for (const [path, text] of Object.entries(content)) mounted[join(mountPath, path)] = text;
    } else mounted[mountPath] = content[subPath] ?? missing(`${subPath} in volume ${name}`);
  }
  return mounted;
}

async function contentOf(place: Place, spec: PodSpec, volume: Volume | undefined): Promise<Files> {
  const { configMap, secret, projected } = volume ?? missing('a volume');
  if (configMap !== undefined) return dataOf(place, 'configmaps', configMap.name);
  if (secret !== undefined) return dataOf(place, 'secrets', secret.secretName);
  const sources = projected?.sources ?? missing(`a source of volume ${volume?.name}`);
  return Object.assign({}, ...(await Promise.all(sources.map((source) => projectedFrom(place, spec, source)))));
}

async function projectedFrom(place: Place, spec: PodSpec, source: Source): Promise<Files> {
  const { serviceAccountToken: token, configMap, secret, downwardAPI } = source;
  if (token !== undefined) {
    const { audience, expirationSeconds } = token;
    const options = { expirationSeconds, ...(audience !== undefined && { audiences: [audience] }) };
    const { cluster, namespace } = place;
    return { [token.path]: await serviceAccountToken(cluster, namespace, spec.serviceAccountName, options) };
  }
  if (configMap !== undefined) return itemsOf(configMap, await dataOf(place, 'configmaps', configMap.name));
  if (secret !== undefined) return itemsOf(secret, await dataOf(place, 'secrets', secret.name));
  return Object.fromEntries((downwardAPI?.items ?? []).map(({ path }) => [path, place.namespace]));
}

const itemsOf = ({ items }: { items: Item[] }, data: Files): Files =>
  Object.fromEntries(items.map(({ key, path }) => [path, data[key] ?? missing(key)]));

/** Returns the variables of a container. */
export async function environmentOf({
  container,
  ...place
}: Place & { container: ContainerSpec }): Promise<Record<string, string>> {
  const pairs = (container.env ?? []).map(async ({ name, value, valueFrom }) => {
    if (valueFrom === undefined) return [name, value ?? ''];
    const { secretKeyRef } = valueFrom;
    return [name, (await dataOf(place, 'secrets', secretKeyRef.name))[secretKeyRef.key] ?? missing(secretKeyRef.key)];
  });
  return Object.fromEntries(await Promise.all(pairs));
}

async function dataOf({ cluster, namespace }: Place, plural: 'configmaps' | 'secrets', name: string): Promise<Files> {
  // A controller that does not run here creates it in every namespace.
  if (name === 'kube-root-ca.crt') return { 'ca.crt': cluster.ca };
  const path = `/api/v1/namespaces/${namespace}/${plural}/${name}`;
  const { data = {} } = (await requestJson(cluster, 'GET', path)) as { data?: Files };
  if (plural === 'configmaps') return data;
  return Object.fromEntries(
    Object.entries(data).map(([key, base64]) => [key, Buffer.from(base64, 'base64').toString()]),
  );
}

function missing(what: string): never {
  throw new Error(`the Pod refers to ${what}, which is missing`);
}
