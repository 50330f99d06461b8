import type { Connection } from '../../shared/kube/connection.ts';
import type { HttpKubeClient } from '../../shared/kube/http-client.ts';
import { kubeconfigConnection } from '../../shared/kube/kubeconfig.ts';
import { type ObjectName, objectPath, resources } from '../../shared/kube/resource.ts';
import { textAt } from '../../shared/shapes.ts';

/** Who the credentials are of: viewers of a Shoot read everything except Secrets, administrators may do everything. */
export type Access = 'viewer' | 'admin';

/** The least that Gardener gives, in seconds. */
const EXPIRATION_SECONDS = 600;

const kinds: Record<Access, string> = { viewer: 'ViewerKubeconfigRequest', admin: 'AdminKubeconfigRequest' };

/**
 * Asks the garden for credentials of a shoot that expire after ten minutes. They stay in memory.
 * @throws ForbiddenError where the user may not, another KubeError where the shoot has no API server yet
 */
export async function requestShootAccess(
  garden: Pick<HttpKubeClient, 'ask'>,
  shoot: ObjectName,
  as: Access,
): Promise<Connection> {
  const answered = await garden.ask(objectPath(resources.shoots, shoot, `${as}kubeconfig`), {
    ...{ apiVersion: 'authentication.gardener.cloud/v1alpha1', kind: kinds[as] },
    spec: { expirationSeconds: EXPIRATION_SECONDS },
  });
  const kubeconfig = Buffer.from(textAt(answered, 'status', 'kubeconfig') ?? '', 'base64').toString('utf8');
  return kubeconfigConnection(kubeconfig, `The ${as} kubeconfig of Shoot ${shoot.namespace}/${shoot.name}`);
}
