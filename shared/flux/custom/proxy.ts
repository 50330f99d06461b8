import type { FluxInstall } from '../../config/types.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { type EnvironmentVariable, withController } from './deployment.ts';

/** Returns a Deployment whose controller uses the proxy. */
export function withProxy(deployment: KubeObject, install: FluxInstall): KubeObject {
  const { proxy, clusterDomain } = install;
  if (proxy === undefined) return deployment;
  const variables: EnvironmentVariable[] = [
    ...urlVariable('HTTP_PROXY', proxy.http, proxy.secretName),
    ...urlVariable('HTTPS_PROXY', proxy.https, proxy.secretName),
    { name: 'NO_PROXY', value: noProxy(clusterDomain, proxy.noProxy) },
  ];
  const names = variables.map(({ name }) => name);
  return withController(deployment, (container) => ({
    ...container,
    env: [...(container.env ?? []).filter(({ name }) => !names.includes(name)), ...variables],
  }));
}

/** A Secret may lack one of the keys. */
function urlVariable(name: string, url: string | undefined, secret: string | undefined): EnvironmentVariable[] {
  if (secret !== undefined) return [{ name, valueFrom: { secretKeyRef: { name: secret, key: name, optional: true } } }];
  return url === undefined ? [] : [{ name, value: url }];
}

/** Controllers reach each other by names with a final dot, and the API server by an address that the kubelet knows. */
function noProxy(clusterDomain: string, others: string | undefined): string {
  const own = [
    'localhost',
    '127.0.0.1',
    '.svc',
    `.${clusterDomain}`,
    `.${clusterDomain}.`,
    '$(KUBERNETES_SERVICE_HOST)',
  ];
  return [...own, ...(others === undefined ? [] : [others])].join(',');
}
