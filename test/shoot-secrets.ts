import type { KubeObject } from '../shared/kube/resource.ts';

/** Returns a Secret with these texts. */
export function secretWith(namespace: string, name: string, data: Record<string, string>): KubeObject {
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, data: Object.fromEntries(encoded) };
}

/** Returns the kubeconfig of a shoot that this server stands for. */
export function kubeconfigOf({ server, ca = '' }: { server: string; ca?: string | undefined }): string {
  const authority = Buffer.from(ca).toString('base64');
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'shoot',
    contexts: [{ name: 'shoot', context: { cluster: 'shoot', user: 'shoot' } }],
    clusters: [{ name: 'shoot', cluster: { server, 'certificate-authority-data': authority } }],
    users: [{ name: 'shoot', user: { token: 'none' } }],
  });
}
