import { isTrue } from '../../../shared/gardener/is-true.ts';
import { DELETE_ON_INVALID_UPDATE, ONLY_CREATE } from '../../../shared/gardener/managed-resource.ts';
import { fieldsAt } from '../../../shared/gardener/shapes.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { ConflictError, InvalidError } from '../../../shared/kube/errors.ts';
import { type KubeObject, type ObjectMeta, type Resource, resources } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { isFluxRef, objectRef } from '../objects.ts';
import type { Plan } from '../plan/plan.ts';
import { fieldManager } from '../release.ts';
import { resourceOf } from '../shoot/kinds.ts';
import { carriesOurMark } from '../shoot/mark.ts';
import { surplusFields } from './surplus-fields.ts';

/** How far a delivery has come. */
export interface Progress {
  /** Names of the contents that are applied completely, by ManagedResource name. */
  delivered: Record<string, string>;
  /** How many objects have been applied since the delivery began, also in earlier runs. */
  arrived: number;
}

/** Applies the contents one after the other until the time is up, and yields the progress after each. */
export async function* applyContents(
  shoot: KubeClient,
  { contents, record }: Pick<Plan, 'contents' | 'record'>,
  kinds: Record<string, Resource>,
  begun: Progress,
  isTimeUp: () => boolean,
): AsyncGenerator<Progress, void, undefined> {
  let progress = begun;
  let before = 0;
  for (const [name, objects] of contents) {
    const rest = inOrder(objects).slice(Math.max(0, progress.arrived - before));
    if (rest.length > 0 && progress.arrived > begun.arrived && isTimeUp()) return;
    const count = await applyObjects(shoot, rest, kinds, isTimeUp);
    const isComplete = count === rest.length;
    const delivered = { ...progress.delivered, ...(isComplete && { [name]: record.managedResources[name] ?? '' }) };
    progress = { delivered, arrived: progress.arrived + count };
    yield progress;
    if (!isComplete) return;
    before += objects.length;
  }
}

/** Sorts the objects of a content: Namespaces before the objects in them. */
function inOrder(objects: KubeObject[]): KubeObject[] {
  return [...objects.filter(isNamespace), ...objects.filter((object) => !isNamespace(object))];
}

const isNamespace = ({ kind }: KubeObject) => kind === 'Namespace';

/**
 * Applies sorted objects to the shoot; an object without drift is not changed by it.
 * @param isTimeUp once true, no further object is begun
 * @returns how many objects were applied
 */
async function applyObjects(
  shoot: KubeClient,
  objects: KubeObject[],
  kinds: Record<string, Resource>,
  isTimeUp: () => boolean,
): Promise<number> {
  const namespaces = objects.filter(isNamespace);
  for (const namespace of namespaces) await applyObject(shoot, namespace, kinds);
  const rest = objects.slice(namespaces.length);
  const applied = await inParallel(rest, (object) => applyObject(shoot, object, kinds), isTimeUp);
  return namespaces.length + applied.length;
}

async function applyObject(shoot: KubeClient, object: KubeObject, kinds: Record<string, Resource>): Promise<void> {
  const resource = resourceOf(object, kinds);
  if (isTrue(object.metadata.annotations?.[ONLY_CREATE])) {
    const live = await shoot.find(resource, object.metadata, { metadataOnly: true });
    if (live !== undefined) return;
  }
  try {
    await applyExactly(shoot, resource, object);
  } catch (error) {
    // As the resource-manager does: a Secret's type, for example, is immutable.
    if (!(error instanceof InvalidError) || object.metadata.annotations?.[DELETE_ON_INVALID_UPDATE] !== 'true') {
      throw error;
    }
    // Another object under the same name is a user's: the error names it.
    if (!(await deleteOurs(shoot, resource, object.metadata))) throw error;
    await applyExactly(shoot, resource, object);
  }
}

async function deleteOurs(shoot: KubeClient, resource: Resource, name: ObjectMeta): Promise<boolean> {
  const live = await shoot.find(resource, name, { metadataOnly: true });
  if (live === undefined) return true;
  if (!carriesOurMark(live)) return false;
  const { uid } = live.metadata;
  await shoot.delete(resource, name, { preconditions: { ...(uid && { uid }) } });
  return true;
}

/** Applies an object; from Flux's own objects and from copies it also removes the fields that were not asked for. */
async function applyExactly(shoot: KubeClient, resource: Resource, object: KubeObject): Promise<void> {
  const live =
    object.kind === 'Deployment'
      ? await applyDeployment(shoot, resource, object)
      : await shoot.apply(resource, object, { fieldManager });
  if (!isFluxRef(objectRef(object)) && object.kind !== 'Secret' && object.kind !== 'ConfigMap') return;
  const patch = surplusFields(live, object);
  if (patch !== undefined) await shoot.mergePatch(resource, object.metadata, patch, { fieldManager });
}

/**
 * Applies a Deployment. An autoscaler keeps its number of replicas: two writers of that number would alternate for
 * ever. A number that a user has set is drift.
 */
async function applyDeployment(shoot: KubeClient, resource: Resource, deployment: KubeObject): Promise<KubeObject> {
  try {
    return await shoot.apply(resource, deployment, { fieldManager, force: false });
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
  }
  const isScaled = await isAutoscaled(shoot, deployment.metadata);
  return shoot.apply(resource, isScaled ? withoutReplicas(deployment) : deployment, { fieldManager });
}

async function isAutoscaled(shoot: KubeClient, { namespace, name }: ObjectMeta): Promise<boolean> {
  const { items } = await shoot.list(resources.horizontalPodAutoscalers, { namespace, limit: 500 });
  return items.some(({ spec }) => {
    const target = fieldsAt(spec, 'scaleTargetRef');
    return target?.kind === 'Deployment' && target.name === name;
  });
}

function withoutReplicas(deployment: KubeObject): KubeObject {
  const { replicas: _, ...spec } = deployment.spec as Record<string, unknown>;
  return { ...deployment, spec };
}
