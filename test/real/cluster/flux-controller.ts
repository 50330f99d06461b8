import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { buildTools } from '../tools/build.ts';
import type { ToolName } from '../tools/tool.ts';
import { answersOk } from './ready.ts';
import { startReady } from './start.ts';

/** A running controller of Flux. */
export interface FluxController extends AsyncDisposable {
  /** The last lines of its log. */
  output(): Promise<string>;
  stop(): Promise<void>;
}

export interface FluxControllerOptions {
  /** Path of the kubeconfig of its cluster, which already has the CRDs of Flux. */
  kubeconfigFile: string;
  /** Where it sends its events. @default nowhere */
  eventsAddress?: string;
  /** Further flags. */
  args?: string[];
}

/** Flags that only one of the controllers has. */
const ownFlags: Partial<Record<ToolName, (folder: string, port: number | undefined) => Promise<string[]>>> = {
  'notification-controller': async (_, port) => [`--receiverAddr=127.0.0.1:${port}`],
  'image-reflector-controller': async (folder) => {
    const storage = join(folder, 'storage');
    await mkdir(storage, { recursive: true });
    return [`--storage-path=${storage}`];
  },
};

/** Starts a controller of Flux outside of a cluster, in the namespace `flux-system`. */
async function startFluxController(
  name: ToolName,
  { kubeconfigFile, args = [] }: FluxControllerOptions,
): Promise<FluxController> {
  const command = (await buildTools([name]))[name];
  const { program } = await startReady({
    name,
    ports: 3,
    prepare: async (folder, ports) => ({
      command,
      args: [
        `--metrics-addr=127.0.0.1:${ports[0]}`,
        `--health-addr=127.0.0.1:${ports[1]}`,
        // There is no second instance to elect a leader with.
        '--enable-leader-election=false',
        ...((await ownFlags[name]?.(folder, ports[2])) ?? []),
        ...args,
      ],
      env: { KUBECONFIG: kubeconfigFile, RUNTIME_NAMESPACE: 'flux-system' },
    }),
    ready: (_, ports) => answersOk(`http://127.0.0.1:${ports[1]}/readyz`),
  });
  return {
    output: () => program.output(),
    stop: () => program.stop(),
    [Symbol.asyncDispose]: () => program.stop(),
  };
}

/** Starts Flux's helm-controller. */
export function startHelmController({ args = [], ...options }: FluxControllerOptions): Promise<FluxController> {
  const own = [`--events-addr=${options.eventsAddress ?? ''}`, '--requeue-dependency=1s'];
  return startFluxController('helm-controller', { ...options, args: [...own, ...args] });
}

/** Starts Flux's notification-controller, which receives events at this port of the loopback interface. */
export function startNotificationController(kubeconfigFile: string, port: number): Promise<FluxController> {
  return startFluxController('notification-controller', {
    kubeconfigFile,
    args: [`--events-addr=127.0.0.1:${port}`],
  });
}

/** Starts Flux's image-reflector-controller. */
export function startImageReflectorController(options: FluxControllerOptions): Promise<FluxController> {
  return startFluxController('image-reflector-controller', {
    ...options,
    args: [`--events-addr=${options.eventsAddress ?? ''}`, '--requeue-dependency=1s'],
  });
}
