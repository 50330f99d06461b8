import { buildTools } from '../tools/build.ts';
import { answersOk } from './ready.ts';
import { startReady } from './start.ts';

/** What a test can choose about a kustomize-controller. */
export interface KustomizeControllerOptions {
  /** Path of the kubeconfig of the cluster that it works on; the CRDs of Flux are there already. */
  kubeconfigFile: string;
  /** The namespace that it takes for its own. @default `flux-system` */
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
 * Starts Flux's kustomize-controller outside of a cluster. It fetches what a source's `status.artifact` names; there
 * is no source-controller, whoever plays it writes that status.
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
          // No notification-controller, and no second one of its kind to elect among.
          '--events-addr=',
          '--enable-leader-election=false',
          // A dependency that is not ready is looked at again after this long; the default of 30 s is most of a test's time.
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
