import type { KubeClient } from '../kube/client.ts';
import { createKubeClient, type HttpKubeClient, type KubeClientOptions } from '../kube/http-client.ts';
import { kubeconfigConnection } from '../kube/kubeconfig.ts';
import { type KubeObject, resources } from '../kube/resource.ts';

interface Secret extends KubeObject {
  data?: Record<string, string>;
}

/** Secrets in a control-plane namespace with a cluster-admin kubeconfig for the shoot (facts/gardener.md 7). */
const secretNames = { internal: 'gardener-internal', external: 'gardener' } as const;

/**
 * A client for the shoot of a control plane; whoever asked for it closes it.
 * @param access which Secret is tried first: the internal address is only reachable from within the seed
 * @param options with the signal of the run: what is given up must not go on writing beside the run that follows it
 * @returns undefined while neither Secret holds a kubeconfig
 * @throws ShootFluxError when the kubeconfig cannot be used, KubeError when the seed cannot be asked
 */
export async function shootClient(
  seed: KubeClient,
  namespace: string,
  access: 'internal' | 'external',
  options: KubeClientOptions & { signal: AbortSignal },
): Promise<HttpKubeClient | undefined> {
  const other = access === 'internal' ? 'external' : 'internal';
  for (const name of [secretNames[access], secretNames[other]]) {
    const secret = await seed.find<Secret>(resources.secrets, { namespace, name });
    const data = secret?.data?.kubeconfig;
    if (!data) continue;
    const kubeconfig = Buffer.from(data, 'base64').toString('utf8');
    const connection = await kubeconfigConnection(kubeconfig, `Secret ${namespace}/${name}`);
    return createKubeClient(connection, { name: 'the shoot', ...options });
  }
  return undefined;
}
