import { KubeConfig } from '@kubernetes/client-node';
import type { ApiServer } from './api-server.ts';

/**
 * Returns a configuration of @kubernetes/client-node for a server: `kubeConfigOf(server).makeApiClient(CoreV1Api)`. The
 * default user is the administrator.
 */
export function kubeConfigOf(server: Pick<ApiServer, 'kubeconfig'>, token?: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromString(server.kubeconfig(token));
  return config;
}
