import { buildTools } from '../tools/build.ts';
import { answersOk } from './ready.ts';
import { startReady } from './start.ts';

/** Options of a kustomize-controller. */
export interface KustomizeControllerOptions {
  /** Path of the kubeconfig of its cluster, which already has the CRDs of Flux. */
  kubeconfigFile: string;
  /** The namespace that it considers its own. @default `flux-system` */
  namespace?: string;
  /** Further flags; a repeated flag overrides. @default none */
  args?: string[];
}

/** A running kustomize-controller. */
export interface KustomizeController extends AsyncDisposable {
  /** The last lines of its log. */
  output(): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts Flux's kustomize-controller outside of a cluster. It fetches the `status.artifact` of a source, which the test
 * must write, because no source-controller runs.
 */
export async function startKustomizeController(options: KustomizeControllerOptions): Promise<KustomizeController> {
  const command = (await buildTools(['kustomize-controller']))['kustomize-controller'];
  const { program } = await startReady({
    name: 'kustomize-controller',
    ports: 2,
    async prepare(_, ports) {
      return {
        command,
        args: [
          `--metrics-addr=127.0.0.1:${ports[0]}`,
          `--health-addr=127.0.0.1:${ports[1]}`,
          // There is no notification-controller, and no second instance to elect a leader with.
          '--events-addr=',
          '--enable-leader-election=false',
          // Retries a dependency that is not ready after this time; the default of 30 s would dominate a test.
          '--requeue-dependency=1s',
          ...(options.args ?? []),
        ],
        env: { KUBECONFIG: options.kubeconfigFile, RUNTIME_NAMESPACE: options.namespace ?? 'flux-system' },
      };
    },
    ready: (_, ports) => answersOk(`http://127.0.0.1:${ports[1]}/readyz`),
  });
  return {
    output: () => program.output(),
    stop: () => program.stop(),
    [Symbol.asyncDispose]: () => program.stop(),
  };
}
