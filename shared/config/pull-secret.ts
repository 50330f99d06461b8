import type { KubeObject } from '../kube/resource.ts';

/** The type of a Secret for pulling images, and its key. */
export const DOCKER_CONFIG_TYPE = 'kubernetes.io/dockerconfigjson';
export const DOCKER_CONFIG = '.dockerconfigjson';

/** In base64. The landscape's is copied into every Shoot, beside the copies that users ask for. */
const MOST_KIB = 64;

/** Returns why a Secret cannot be a pull secret; never its content. */
export function pullSecretProblem(secret: KubeObject | undefined): string | undefined {
  if (secret === undefined) return 'does not exist';
  const content = (secret.data as Record<string, string> | undefined)?.[DOCKER_CONFIG];
  if (secret.type !== DOCKER_CONFIG_TYPE) return `is not of type ${DOCKER_CONFIG_TYPE}`;
  if (content === undefined || content === '') return `has no ${DOCKER_CONFIG}`;
  return content.length > MOST_KIB * 1024 ? `is longer than ${MOST_KIB} KiB` : undefined;
}
