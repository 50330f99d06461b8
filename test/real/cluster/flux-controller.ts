import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { buildTools } from '../tools/build.ts';
import { answersOk, type RunningProgram, startReady } from './start.ts';

/** Flags that only one of the controllers has. @param port a free one of the loopback interface */
const ownFlags = {
  'source-controller': ({ storage, port }) => [
    `--storage-path=${storage}`,
    `--storage-addr=127.0.0.1:${port}`,
    `--storage-adv-addr=127.0.0.1:${port}`,
  ],
  'kustomize-controller': () => [RETRY],
  'helm-controller': () => [RETRY],
  'notification-controller': ({ port }) => [`--receiverAddr=127.0.0.1:${port}`],
  'image-reflector-controller': ({ storage }) => [`--storage-path=${storage}`, RETRY],
} satisfies Record<string, (place: { storage: string; port: number }) => string[]>;

/** Tries a dependency that is not ready again after this time; the default of 30 s would dominate a test. */
const RETRY = '--requeue-dependency=1s';

export type FluxControllerName = keyof typeof ownFlags;

/**
 * Starts a controller of Flux outside of a cluster, in the namespace `flux-system`.
 * @param kubeconfigFile of its cluster, which already has the CRDs of Flux
 * @param events the address to which it sends its events, or at which the notification-controller receives them
 */
export async function startFluxController(
  name: FluxControllerName,
  kubeconfigFile: string,
  events = '',
): Promise<RunningProgram> {
  const command = (await buildTools([name]))[name];
  const { program } = await startReady({
    name,
    ports: 3,
    async prepare(folder, [metrics, health, port = 0]) {
      const storage = join(folder, 'storage');
      await mkdir(storage);
      return {
        command,
        args: [
          `--metrics-addr=127.0.0.1:${metrics}`,
          `--health-addr=127.0.0.1:${health}`,
          `--events-addr=${name === 'notification-controller' ? new URL(events).host : events}`,
          // There is no second instance to elect a leader with.
          '--enable-leader-election=false',
          ...ownFlags[name]({ storage, port }),
        ],
        env: { KUBECONFIG: kubeconfigFile, RUNTIME_NAMESPACE: 'flux-system' },
      };
    },
    ready: (_, [, health]) =>
      answersOk(`http://127.0.0.1:${health}/${name === 'source-controller' ? 'healthz' : 'readyz'}`),
  });
  return program;
}
