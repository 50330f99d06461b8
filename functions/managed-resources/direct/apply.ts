import { isTrue } from '../../../shared/gardener/is-true.ts';
import { DELETE_ON_INVALID_UPDATE, KEEP_OBJECT } from '../../../shared/gardener/managed-resource.ts';
import { objectRef, parseRef } from '../../../shared/gardener/object-ref.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { InvalidError } from '../../../shared/kube/errors.ts';
import type { KubeObject, ObjectName, Resource } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { isSuspended } from '../desired/leaving.ts';
import { resourceOf } from '../kinds.ts';
import { fieldManager } from '../write.ts';
import { applyDeployment } from './deployment.ts';
import { isFlux, isPruner } from './direct-plan.ts';
import { surplus } from './surplus.ts';

/** The order in which a content is applied: Namespaces before what is in them. */
export function inOrder(objects: KubeObject[]): KubeObject[] {
  return [...objects.filter(isNamespace), ...objects.filter((object) => !isNamespace(object))];
}

const isNamespace = ({ kind }: KubeObject) => kind === 'Namespace';

/**
 * Applies objects, which are in order, to the shoot; what is as it should be is not written by it.
 * @returns how many of them: once the time is up no other one is begun
 */
export async function applyObjects(
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
  try {
    await applyWhole(shoot, resource, object);
  } catch (error) {
    // As the resource-manager does: a Secret's type, for example, cannot be changed.
    if (!(error instanceof InvalidError) || object.metadata.annotations?.[DELETE_ON_INVALID_UPDATE] !== 'true') {
      throw error;
    }
    await shoot.delete(resource, object.metadata);
    await applyWhole(shoot, resource, object);
  }
}

/** Applies it, and of Flux's objects and the copies takes away what nobody asks for. */
async function applyWhole(shoot: KubeClient, resource: Resource, object: KubeObject): Promise<void> {
  const live =
    object.kind === 'Deployment'
      ? await applyDeployment(shoot, resource, object)
      : await shoot.apply(resource, object, { fieldManager });
  if (!isFlux(objectRef(object)) && object.kind !== 'Secret' && object.kind !== 'ConfigMap') return;
  const patch = surplus(live, object);
  if (patch !== undefined) await shoot.mergePatch(resource, object.metadata, patch, { fieldManager });
}

/**
 * The Kustomization or HelmRelease among the objects that is still on its way out: applied now it would lose its
 * `suspend`, and Flux would take away what it has deployed before it lets it go.
 */
export async function stillLeaving(
  shoot: KubeClient,
  objects: KubeObject[],
  kinds: Record<string, Resource>,
): Promise<KubeObject | undefined> {
  for (const object of objects.filter((candidate) => isPruner(objectRef(candidate)))) {
    const live = await shoot.find(resourceOf(object, kinds), object.metadata, { metadataOnly: true });
    if (live?.metadata.deletionTimestamp !== undefined) return object;
  }
  return undefined;
}

/** Suspends what is leaving and would take its workloads along. */
export async function suspendLeaving(
  shoot: KubeClient,
  refs: string[],
  kinds: Record<string, Resource>,
): Promise<void> {
  for (const ref of refs.filter(isPruner)) {
    const [resource, name] = locate(ref, kinds);
    const live = resource && (await shoot.find(resource, name));
    if (!resource || live === undefined || isSuspended(live)) continue;
    await shoot.mergePatch(resource, name, { spec: { suspend: true } }, { fieldManager });
  }
}

/**
 * Deletes what is leaving. While an object of Flux is still on its way, its controllers and the rest stay.
 * @returns the refs of what is still there
 */
export async function prune(shoot: KubeClient, refs: string[], kinds: Record<string, Resource>): Promise<string[]> {
  const ofFlux = await deleteAll(shoot, refs.filter(isFlux), kinds);
  const others = refs.filter((ref) => !isFlux(ref));
  if (ofFlux.length > 0) return [...ofFlux, ...others];
  return deleteAll(shoot, others, kinds);
}

async function deleteAll(shoot: KubeClient, refs: string[], kinds: Record<string, Resource>): Promise<string[]> {
  const remaining = await inParallel(refs, async (ref) => {
    const [resource, name] = locate(ref, kinds);
    const live = resource && (await shoot.find(resource, name, { metadataOnly: true }));
    if (!resource || live === undefined || isTrue(live.metadata.annotations?.[KEEP_OBJECT])) return [];
    if (live.metadata.deletionTimestamp === undefined) {
      await shoot.delete(resource, name, { propagationPolicy: 'Background' });
      if ((await shoot.find(resource, name, { metadataOnly: true })) === undefined) return [];
    }
    return [ref];
  });
  return remaining.flat();
}

/** A ref of a kind that this release does not know any more leads nowhere: its CRD tells nothing of it. */
function locate(ref: string, kinds: Record<string, Resource>): [Resource | undefined, ObjectName] {
  const { type, name } = parseRef(ref);
  return [kinds[type], name];
}
