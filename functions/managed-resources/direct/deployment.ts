import type { KubeClient } from '../../../shared/kube/client.ts';
import { ConflictError } from '../../../shared/kube/errors.ts';
import { type KubeObject, type ObjectMeta, type Resource, resources } from '../../../shared/kube/resource.ts';
import { fieldManager } from '../write.ts';

/**
 * Applies a Deployment. How many replicas it has is left to an autoscaler where there is one: two that write the same
 * number take turns for ever. What a person has scaled is drift.
 */
export async function applyDeployment(
  shoot: KubeClient,
  resource: Resource,
  deployment: KubeObject,
): Promise<KubeObject> {
  try {
    return await shoot.apply(resource, deployment, { fieldManager, force: false });
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
  }
  const wanted = (await isAutoscaled(shoot, deployment.metadata)) ? withoutReplicas(deployment) : deployment;
  return shoot.apply(resource, wanted, { fieldManager });
}

async function isAutoscaled(shoot: KubeClient, { namespace, name }: ObjectMeta): Promise<boolean> {
  const { items } = await shoot.list(resources.horizontalPodAutoscalers, { namespace });
  return items.some(({ spec }) => {
    const target = (spec as { scaleTargetRef?: { kind?: string; name?: string } }).scaleTargetRef;
    return target?.kind === 'Deployment' && target.name === name;
  });
}

function withoutReplicas(deployment: KubeObject): KubeObject {
  const { replicas: _, ...spec } = deployment.spec as Record<string, unknown>;
  return { ...deployment, spec };
}
