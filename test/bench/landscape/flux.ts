import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { NotFoundError } from '../../../shared/kube/errors.ts';
import { type KubeObject, type Resource, resources } from '../../../shared/kube/resource.ts';

const synced: Resource[] = [
  ['source.toolkit.fluxcd.io', 'gitrepositories', 'GitRepository'] as const,
  ['kustomize.toolkit.fluxcd.io', 'kustomizations', 'Kustomization'] as const,
].map(([group, plural, kind]) => ({ group, version: 'v1', plural, kind, namespaced: true }));

const REVISION = 'main@sha1:9c36b9c4bb6438104a703cb983aa8c62ff5e7c4c';

/**
 * Plays Flux in a shoot: so many seconds after its Deployments are there (images have to be pulled) they are
 * available, and source and Kustomization are Ready.
 */
export async function playFlux(shoot: KubeClient, seconds: number, signal: AbortSignal): Promise<void> {
  while ((await listed(shoot, resources.deployments)).length === 0) await sleep(100, undefined, { signal });
  await sleep(seconds * 1000, undefined, { signal });
  for (const deployment of await listed(shoot, resources.deployments)) {
    const { generation } = deployment.metadata;
    const status = {
      observedGeneration: generation,
      replicas: 1,
      updatedReplicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
    };
    await writeStatus(shoot, resources.deployments, deployment, status);
  }
  for (const resource of synced) {
    let objects: KubeObject[] = [];
    for (; objects.length === 0; objects = await listed(shoot, resource)) await sleep(100, undefined, { signal });
    for (const object of objects) await writeStatus(shoot, resource, object, ready(object));
  }
}

async function listed(shoot: KubeClient, resource: Resource): Promise<KubeObject[]> {
  try {
    return (await shoot.list(resource, { namespace: 'flux-system' })).items;
  } catch (error) {
    // The CRD is not there yet.
    if (error instanceof NotFoundError) return [];
    throw error;
  }
}

function ready({ metadata: { generation } }: KubeObject): unknown {
  const condition = { type: 'Ready', status: 'True', reason: 'Succeeded', message: `Applied revision: ${REVISION}` };
  return {
    observedGeneration: generation,
    conditions: [{ ...condition, observedGeneration: generation, lastTransitionTime: new Date().toISOString() }],
    lastAppliedRevision: REVISION,
  };
}

async function writeStatus(shoot: KubeClient, resource: Resource, object: KubeObject, status: unknown): Promise<void> {
  await shoot.mergePatch(resource, object.metadata, { status }, { fieldManager: 'bench', subresource: 'status' });
}
