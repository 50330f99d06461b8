import { KubeConfig } from '@kubernetes/client-node';
import type { ApiServer } from './api-server.ts';

/** The configuration of Kubernetes' own client for a server: `kubeConfigOf(server).makeApiClient(CoreV1Api)`. The token's user is the administrator unless said otherwise. */
export function kubeConfigOf(server: Pick<ApiServer, 'kubeconfig'>, token?: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromString(server.kubeconfig(token));
  return config;
}
