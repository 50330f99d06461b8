import type { KubeClient } from '../kube/client.ts';
import type { Connection } from '../kube/connection.ts';
import { createKubeClient, type KubeClientOptions } from '../kube/http-client.ts';
import { kubeconfigConnection } from '../kube/kubeconfig.ts';
import { resources } from '../kube/resource.ts';
import { shootLimits } from '../kube/transport.ts';
import { resuming } from '../runtime/activity.ts';
import type { Context } from '../runtime/context.ts';
import { withLoggedDeletions } from '../runtime/log.ts';
import { textAt } from '../shapes.ts';
import { SELF_HOSTED } from './shoot-changes.ts';

/** Secrets in a control-plane namespace with a cluster-admin kubeconfig for the shoot (rule 7). */
const secretNames = { internal: 'gardener-internal', external: 'gardener' } as const;

/** What is needed to reach the shoot of a control plane. */
interface ShootAccess {
  seed: KubeClient;
  /** The control-plane namespace. */
  namespace: string;
  context: Pick<Context, 'settings' | 'signal' | 'log'>;
}

/**
 * Calls `act` with a client for the shoot, and closes the client afterwards. The client stops with the signal of the
 * run: a run that was given up must not write beside the run that follows it.
 * @returns undefined while the control plane holds no kubeconfig; then `act` was not called
 * @throws ShootFluxError when the kubeconfig cannot be used, KubeError when the seed does not answer, and what `act` throws
 */
export async function withShoot<T>(
  { seed, namespace, context: { settings, signal, log } }: ShootAccess,
  act: (shoot: KubeClient) => Promise<T>,
  options: Pick<KubeClientOptions, 'timeoutMs' | 'userAgent'> = {},
): Promise<T | undefined> {
  const connection = await shootConnection(seed, namespace, settings.shootAccess);
  // Gardener writes no kubeconfig of a self-hosted Shoot: the cluster of its control plane is the shoot (decision 101).
  if (connection === undefined) return namespace === SELF_HOSTED ? act(seed) : undefined;
  const shoot = createKubeClient(connection, {
    name: 'the shoot',
    signal,
    limits: shootLimits,
    ...options,
  });
  try {
    return await act(resuming(withLoggedDeletions(shoot, 'shoot', log)));
  } finally {
    shoot.close();
  }
}

/** @param access which Secret is tried first: only a function inside the seed reaches the internal address */
async function shootConnection(
  seed: KubeClient,
  namespace: string,
  access: 'internal' | 'external',
): Promise<Connection | undefined> {
  const other = access === 'internal' ? 'external' : 'internal';
  for (const name of [secretNames[access], secretNames[other]]) {
    const data = textAt(await seed.find(resources.secrets, { namespace, name }), 'data', 'kubeconfig');
    if (!data) continue;
    const kubeconfig = Buffer.from(data, 'base64').toString('utf8');
    return kubeconfigConnection(kubeconfig, `Secret ${namespace}/${name}`);
  }
  return undefined;
}
