import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { NotFoundError } from '../../../shared/kube/errors.ts';
import { type KubeObject, type Resource, resources } from '../../../shared/kube/resource.ts';
import { changes } from './changes.ts';

const synced: Resource[] = [
  ['source.toolkit.fluxcd.io', 'gitrepositories', 'GitRepository'] as const,
  ['kustomize.toolkit.fluxcd.io', 'kustomizations', 'Kustomization'] as const,
].map(([group, plural, kind]) => ({ group, version: 'v1', plural, kind, namespaced: true }));

const REVISION = 'main@sha1:9c36b9c4bb6438104a703cb983aa8c62ff5e7c4c';

/**
 * Plays Flux in a shoot: so many seconds after its Deployments are there (images have to be pulled) they are
 * available, and source and Kustomization are Ready. They remain so when they are edited, for example when the
 * annotations of a released Deployment change, until the signal.
 */
export async function playFlux(shoot: KubeClient, seconds: number, signal: AbortSignal): Promise<void> {
  while ((await listed(shoot, resources.deployments)).length === 0) await sleep(100, undefined, { signal });
  await sleep(seconds * 1000, undefined, { signal });
  for (const deployment of await listed(shoot, resources.deployments)) {
    await writeStatus(shoot, resources.deployments, deployment, available(deployment));
  }
  for (const resource of synced) {
    let objects: KubeObject[] = [];
    for (; objects.length === 0; objects = await listed(shoot, resource)) await sleep(100, undefined, { signal });
    for (const object of objects) await writeStatus(shoot, resource, object, ready(object));
  }
  await keepReady(shoot, signal);
}

/** Plays Flux in a shoot that has it already: whatever is edited is available or Ready at once, until the signal. */
async function keepReady(shoot: KubeClient, signal: AbortSignal): Promise<void> {
  await Promise.all([resources.deployments, ...synced].map((resource) => follow(shoot, resource, signal)));
}

async function follow(shoot: KubeClient, resource: Resource, signal: AbortSignal): Promise<void> {
  const statusOf = resource === resources.deployments ? available : ready;
  const notice = async (object: KubeObject) => {
    const { observedGeneration } = (object.status ?? {}) as { observedGeneration?: number };
    if (observedGeneration === object.metadata.generation) return;
    await writeStatus(shoot, resource, object, statusOf(object)).catch(() => {});
  };
  const { items, resourceVersion } = await shoot.list(resource, { namespace: 'flux-system' });
  for (const object of items) await notice(object);
  const from = { namespace: 'flux-system', resourceVersion, signal };
  for await (const object of changes(shoot, resource, from)) await notice(object);
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

function available({ metadata: { generation } }: KubeObject): unknown {
  return { observedGeneration: generation, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
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
