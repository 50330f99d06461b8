import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { root as repository } from '../../integration/documents.ts';
import type { ApiServer } from '../cluster/api-server.ts';
import { freePorts } from '../cluster/ports.ts';
import { requestJson } from '../cluster/request.ts';
import { programFolder, type RunningProgram, startProgram } from '../cluster/start.ts';
import { type Container, startContainer } from './container.ts';
import { serviceAccountToken } from './objects.ts';

/** A Pod of a rendered Deployment. */
export interface PodSetup {
  deployment: KubeObject;
  /** The cluster that it runs in. It has everything that the volumes refer to. */
  cluster: ApiServer;
  /** Flags in place of what the image contains, and of ports that may be taken. */
  flags?: string[] | undefined;
  /** Its unpacked image. @default this checkout */
  image?: Pick<Container, 'root' | 'config'>;
}

export interface Pod extends RunningProgram {
  /** Status of its readiness probe; 0 without an answer. */
  readyz(): Promise<number>;
}

/** Adds to /etc what the Pod has there, and shows its own /run, where tokens are. The machine keeps its own. */
const SCRIPT = `set -e
root=$1
shift
cp -a /etc/. "$root/etc/"
mount --bind "$root/etc" /etc
mount --bind "$root/run" /run
exec "$@"
`;

/**
 * Starts the container of a Deployment as a process, as a kubelet does: with its arguments and its environment, and with
 * the files of its volumes where they are mounted. Only the port of the probes is replaced. Needs root, for mounts that only
 * the process sees.
 */
export async function startPod({ deployment, cluster, flags = [], image }: PodSetup): Promise<Pod> {
  const { spec } = (deployment.spec as { template: { spec: PodSpec } }).template;
  const [container] = spec.containers as [ContainerSpec];
  const place = { cluster, namespace: deployment.metadata.namespace ?? '' };
  const folder = await programFolder('pod');
  const root = image?.root ?? join(folder, 'root');
  for (const name of ['etc', 'run']) await mkdir(join(root, name), { recursive: true });
  for (const [path, content] of Object.entries(await filesOf({ ...place, spec }))) {
    const target = join(root, image === undefined ? path.replace(/^\/var\/run\//, '/run/') : path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, content);
  }
  const [port = 0] = await freePorts(1);
  const args = [...(container.args ?? []), '--port', `${port}`, ...flags];
  const { hostname, port: apiPort } = new URL(cluster.url);
  const env = {
    ...{ KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: apiPort },
    ...Object.fromEntries((container.env ?? []).map(({ name, value }) => [name, value])),
  };
  const own = [root, process.execPath, join(repository, 'infra/cli/shoot-flux.js'), ...args];
  const program =
    image === undefined
      ? await startProgram({
          name: 'pod',
          command: 'unshare',
          args: ['--mount', 'sh', '-c', SCRIPT, 'sh', ...own],
          env,
          folder,
        })
      : await startContainer({ ...image, args, env });
  const readyz = async () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ status }) => status,
      () => 0,
    );
  return Object.assign(program, { readyz });
}

/** Does something beside a Pod, and stops it; an error has its output. */
export async function besidePod<T>(pod: RunningProgram, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n${await pod.output()}`, { cause: error });
  } finally {
    await pod.stop();
  }
}

/** The fields of a Pod that decide which files and variables its container has. */
interface PodSpec {
  serviceAccountName: string;
  containers: ContainerSpec[];
  volumes: Volume[];
}

interface ContainerSpec {
  args?: string[];
  env?: { name: string; value: string }[];
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
  serviceAccountToken?: { path: string; expirationSeconds: number };
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
async function filesOf({ cluster, namespace, spec }: Place & { spec: PodSpec }): Promise<Files> {
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
    const { path, expirationSeconds } = token;
    const { cluster, namespace } = place;
    return { [path]: await serviceAccountToken(cluster, namespace, spec.serviceAccountName, { expirationSeconds }) };
  }
  if (configMap !== undefined) return itemsOf(configMap, await dataOf(place, 'configmaps', configMap.name));
  if (secret !== undefined) return itemsOf(secret, await dataOf(place, 'secrets', secret.name));
  return Object.fromEntries((downwardAPI?.items ?? []).map(({ path }) => [path, place.namespace]));
}

const itemsOf = ({ items }: { items: Item[] }, data: Files): Files =>
  Object.fromEntries(items.map(({ key, path }) => [path, data[key] ?? missing(key)]));

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
