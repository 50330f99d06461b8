import type { Applied } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { inParallel } from '../../shared/runtime/in-parallel.ts';
import { isVacant } from './namespace.ts';
import { pages, unlessGone } from './pages.ts';
import { suspendAll } from './suspend.ts';
import { type Target, targetsOf } from './targets.ts';
import { fieldManager } from './write.ts';

const PARALLEL = 8;

const fluxFinalizers = new Set(['finalizers.fluxcd.io', 'source.extensions.fluxcd.io/finalizer']);

const pods: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };

/**
 * Removes Flux from a shoot, and nothing that it has deployed: suspend, controllers, finalizers, CRDs, the rest (the
 * order of facts/flux.md 4.3 to 4.6, where each step makes the next one harmless). Every step looks at what is there,
 * so it may be repeated, also after a kill.
 * @returns what it waits for, for a person; undefined when all of it is gone
 */
export async function uninstall(shoot: KubeClient, applied: Applied): Promise<string | undefined> {
  const targets = targetsOf(applied);
  const kinds = await servedKinds(shoot, targets.crds);
  await suspendAll(shoot, kinds);
  await inParallel(PARALLEL, targets.deployments, (target) => removeTarget(shoot, target));
  // A controller that still runs would prune, and one reconciliation may be under way despite the suspension.
  if (await anyPod(shoot, applied, targets.deployments)) return "Waiting for Flux's controllers to end.";
  for (const kind of kinds) await stripFinalizers(shoot, kind);
  const remaining = await inParallel(PARALLEL, targets.crds, (name) => removeCrd(shoot, name));
  if (remaining.includes(true)) return 'Waiting for the CustomResourceDefinitions of Flux to go.';
  await inParallel(PARALLEL, targets.others, (target) => removeTarget(shoot, target));
  if (applied.ownsNamespace && (await isVacant(shoot, applied.namespace))) {
    await removeTarget(shoot, { resource: resources.namespaces, name: applied.namespace });
  }
  return undefined;
}

/** Flux's kinds as the shoot serves them: its CRDs tell, whatever release put them there. */
async function servedKinds(shoot: KubeClient, crds: string[]): Promise<Resource[]> {
  const found = await inParallel(PARALLEL, crds, (name) => shoot.find(resources.customResourceDefinitions, { name }));
  return found.flatMap((crd) => (crd === undefined ? [] : servedKind(crd)));
}

function servedKind({ spec }: KubeObject): Resource[] {
  const { group, names, scope, versions } = spec as {
    group: string;
    names: { plural: string; kind: string };
    scope: string;
    versions: { name: string; served: boolean; storage: boolean }[];
  };
  const version = versions.find(({ served, storage }) => served && storage) ?? versions.find(({ served }) => served);
  if (version === undefined) return [];
  return [{ group, version: version.name, ...names, namespaced: scope === 'Namespaced' }];
}

async function anyPod(shoot: KubeClient, { namespace }: Applied, deployments: Target[]): Promise<boolean> {
  if (deployments.length === 0) return false;
  const labelSelector = `app in (${deployments.map(({ name }) => name).join(',')})`;
  const { items } = await shoot.list(pods, { namespace, labelSelector, metadataOnly: true, limit: 1 });
  return items.length > 0;
}

async function stripFinalizers(shoot: KubeClient, kind: Resource): Promise<void> {
  for await (const items of pages(shoot, kind, { metadataOnly: true })) {
    const held = items.filter(({ metadata }) =>
      metadata.finalizers?.some((finalizer) => fluxFinalizers.has(finalizer)),
    );
    await inParallel(PARALLEL, held, async ({ metadata }) => {
      const finalizers = metadata.finalizers?.filter((finalizer) => !fluxFinalizers.has(finalizer));
      const patch = { metadata: { finalizers, resourceVersion: metadata.resourceVersion } };
      await unlessGone(shoot.mergePatch(kind, metadata, patch, { fieldManager }));
    });
  }
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
