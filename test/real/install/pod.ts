import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { root as repository } from '../../integration/documents.ts';
import type { ApiServer } from '../cluster/api-server.ts';
import { freePorts } from '../cluster/ports.ts';
import { programFolder, type RunningProgram, startProgram } from '../cluster/process.ts';
import { type Container, startContainer } from './container.ts';
import { type ContainerSpec, environmentOf, filesOf, type PodSpec } from './pod-files.ts';

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
    ...(await environmentOf({ ...place, container })),
  };
  const own = [root, process.execPath, join(repository, 'infra/cli/main.ts'), ...args];
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
