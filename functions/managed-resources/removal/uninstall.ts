import type { Applied } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { servedKinds } from '../served.ts';
import { stripFinalizers } from './finalizers.ts';
import { isVacant } from './namespace.ts';
import { anyAtWork } from './pods.ts';
import { suspendAll } from './suspend.ts';
import { type Target, targetsOf } from './targets.ts';

/**
 * Removes Flux from a shoot, and nothing that it has deployed: suspend, controllers, what they needed, finalizers, CRDs,
 * the namespace (the order of facts/flux.md 4.3 to 4.6, where each step makes the next one harmless). Every step looks
 * at what is there, so it may be repeated, also after a kill.
 * @returns what it waits for, for a person; undefined when all of it is gone
 */
export async function uninstall(shoot: KubeClient, applied: Applied, now: Date): Promise<string | undefined> {
  const targets = targetsOf(applied);
  const kinds = await servedKinds(shoot, targets.crds);
  await suspendAll(shoot, kinds);
  await inParallel(targets.deployments, (target) => removeTarget(shoot, target));
  // A controller that still runs would prune, and one reconciliation may be under way despite the suspension.
  const controllers = targets.deployments.map(({ name }) => name);
  if (await anyAtWork(shoot, applied.namespace, controllers, now)) return "Waiting for Flux's controllers to end.";
  // Nobody needs these any more; a foreign finalizer on an object of Flux must not leave an administrator behind.
  await inParallel(targets.others, (target) => removeTarget(shoot, target));
  for (const kind of kinds) await stripFinalizers(shoot, kind);
  const remaining = await inParallel(targets.crds, (name) => removeCrd(shoot, name));
  if (remaining.includes(true)) return 'Waiting for the CustomResourceDefinitions of Flux to go.';
  if (applied.ownsNamespace && (await isVacant(shoot, applied.namespace))) {
    await removeTarget(shoot, { resource: resources.namespaces, name: applied.namespace });
  }
  return undefined;
}

/** True while it is still there. */
async function removeCrd(shoot: KubeClient, name: string): Promise<boolean> {
  const crd = await shoot.find(resources.customResourceDefinitions, { name }, { metadataOnly: true });
  if (crd === undefined) return false;
  if (crd.metadata.deletionTimestamp === undefined) await shoot.delete(resources.customResourceDefinitions, { name });
  return true;
}

async function removeTarget(shoot: KubeClient, { resource, ...name }: Target): Promise<void> {
  const object = await shoot.find(resource, name, { metadataOnly: true });
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
  await shoot.delete(resource, name, { propagationPolicy: 'Background' });
}
