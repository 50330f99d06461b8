import { startCluster } from '@shoot-flux/landscape/cluster';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';

/** Starts a garden whose project `foo` takes pushes with this token. */
export async function startGardenWithPushes() {
  const name = (object: string) => ({ namespace: 'garden-foo', name: object });
  const token = 'of-the-project-itself';
  const garden = await startCluster([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'garden-foo' } },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: name('flux-config'), data: { push: 'true' } },
    { apiVersion: 'v1', kind: 'Secret', metadata: name('flux-push'), stringData: { token } },
  ] as KubeObject[]);
  return { garden, token, findSecret: () => garden.client.find(resources.secrets, name('flux-push')) };
}
