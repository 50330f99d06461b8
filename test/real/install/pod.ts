import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { root as repository } from '../../integration/documents.ts';
import type { ApiServer } from '../cluster/api-server.ts';
import { freePorts } from '../cluster/ports.ts';
import { programFolder, type RunningProgram, startProgram } from '../cluster/process.ts';
import { type ContainerSpec, environmentOf, filesOf, type PodSpec } from './pod-files.ts';

/** A Pod of a rendered Deployment. */
export interface PodSetup {
  deployment: KubeObject;
  /** The cluster that it runs in. It has everything that the volumes refer to. */
  cluster: ApiServer;
  /** Flags in place of what the image contains, and of ports that may be taken. */
  flags?: string[];
}

export interface Pod extends Pick<RunningProgram, 'output' | 'stop'> {
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
export async function startPod({ deployment, cluster, flags = [] }: PodSetup): Promise<Pod> {
  const { spec } = (deployment.spec as { template: { spec: PodSpec } }).template;
  const [container] = spec.containers as [ContainerSpec];
  const namespace = deployment.metadata.namespace ?? '';
  const folder = await programFolder('pod');
  const root = join(folder, 'root');
  for (const name of ['etc', 'run']) await mkdir(join(root, name), { recursive: true });
  const files = await filesOf({ cluster, namespace, spec });
  for (const [path, content] of Object.entries(files)) {
    const target = join(root, path.replace(/^\/var\/run\//, '/run/'));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, content);
  }
  const [port = 0] = await freePorts(1);
  const args = [...(container.args ?? []), '--port', `${port}`, ...flags];
  const { hostname, port: apiPort } = new URL(cluster.url);
  const program = await startProgram({
    name: 'pod',
    command: 'unshare',
    args: ['--mount', 'sh', '-c', SCRIPT, 'sh', root, process.execPath, join(repository, 'infra/cli/main.ts'), ...args],
    env: {
      KUBERNETES_SERVICE_HOST: hostname,
      KUBERNETES_SERVICE_PORT: apiPort,
      ...(await environmentOf({ cluster, namespace, container })),
    },
    folder,
  });
  const readyz = async () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ status }) => status,
      () => 0,
    );
  return { output: program.output, stop: program.stop, readyz };
}
