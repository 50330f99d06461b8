import { stringify } from 'yaml';

/** A kubeconfig with one cluster and one bearer token, as YAML. */
export function tokenKubeconfig(cluster: { url: string; ca: string; token: string }): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'default',
        cluster: { server: cluster.url, 'certificate-authority-data': Buffer.from(cluster.ca).toString('base64') },
      },
    ],
    users: [{ name: 'default', user: { token: cluster.token } }],
    contexts: [{ name: 'default', context: { cluster: 'default', user: 'default' } }],
    'current-context': 'default',
  });
}
