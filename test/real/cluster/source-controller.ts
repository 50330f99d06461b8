import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { buildTools } from '../tools/build.ts';
import { answersOk } from './ready.ts';
import { startReady } from './start.ts';

/** A running source-controller. */
export interface SourceController extends AsyncDisposable {
  /** The last lines of its log. */
  output(): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts Flux's source-controller outside of a cluster, in the namespace `flux-system`.
 * @param kubeconfigFile of its cluster, which already has the CRDs of Flux
 * @param eventsAddress of the notification-controller, if there is one
 */
export async function startRealSourceController(kubeconfigFile: string, eventsAddress = ''): Promise<SourceController> {
  const command = (await buildTools(['source-controller']))['source-controller'];
  const { program } = await startReady({
    name: 'source-controller',
    ports: 3,
    async prepare(folder, ports) {
      const storage = join(folder, 'storage');
      await mkdir(storage, { recursive: true });
      return {
        command,
        args: [
          `--storage-path=${storage}`,
          `--storage-addr=127.0.0.1:${ports[2]}`,
          `--storage-adv-addr=127.0.0.1:${ports[2]}`,
          `--metrics-addr=127.0.0.1:${ports[0]}`,
          `--health-addr=127.0.0.1:${ports[1]}`,
          `--events-addr=${eventsAddress}`,
          // There is no second instance to elect a leader with.
          '--enable-leader-election=false',
        ],
        env: { KUBECONFIG: kubeconfigFile, RUNTIME_NAMESPACE: 'flux-system' },
      };
    },
    ready: (_, ports) => answersOk(`http://127.0.0.1:${ports[1]}/healthz`),
  });
  return {
    output: () => program.output(),
    stop: () => program.stop(),
    [Symbol.asyncDispose]: () => program.stop(),
  };
}
