import type { KubeClient } from '../../../shared/kube/client.ts';
import { isRefused, KubeError } from '../../../shared/kube/errors.ts';
import type { KubeObject, ManagedFields, Resource } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { isSuspended, pruners } from '../desired/leaving.ts';
import { pages, unlessGone } from '../pages.ts';
import { fieldManager } from '../write.ts';

/** The kinds whose objects take along what they have deployed. */
export const pruningCrds = ['kustomizations.kustomize.toolkit.fluxcd.io', 'helmreleases.helm.toolkit.fluxcd.io'];

/**
 * Suspends all Kustomizations and HelmReleases, also those that others have deployed: a suspended one is deleted
 * without what it brought (facts/flux.md 4.3).
 * @param kinds as the shoot serves them; others than those two are left alone
 * @returns false when the time was up before all of them were
 */
export async function suspendAll(shoot: KubeClient, kinds: Resource[], isTimeUp: () => boolean): Promise<boolean> {
  const some = kinds.filter(({ kind }) => pruners.has(kind));
  const ended = await inParallel(some, (resource) => suspendKind(shoot, resource, isTimeUp));
  return !ended.includes(false);
}

async function suspendKind(shoot: KubeClient, resource: Resource, isTimeUp: () => boolean): Promise<boolean> {
  let refusal: KubeError | undefined;
  const suspend = async ({ metadata }: KubeObject) => {
    try {
      await unlessGone(shoot.mergePatch(resource, metadata, { spec: { suspend: true } }, { fieldManager }));
    } catch (error) {
      // One object that a webhook or its schema holds fast must not keep the others active.
      if (!(error instanceof KubeError) || !isRefused(error)) throw error;
      refusal ??= error;
    }
  };
  for await (const items of pages(shoot, resource)) {
    const active = items.filter((item) => !isSuspended(item));
    const done = await inParallel(active, suspend, isTimeUp);
    if (done.length < active.length) return false;
  }
  if (refusal !== undefined) throw refusal;
  return true;
}

/**
 * Takes back what `suspendAll` has done, as far as it stays: what was suspended before us stays so, and so does what is
 * being deleted.
 */
export async function resumeAll(shoot: KubeClient, kinds: Resource[]): Promise<void> {
  for (const resource of kinds.filter(({ kind }) => pruners.has(kind))) {
    for await (const items of pages(shoot, resource)) {
      const ours = items.filter((item) => item.metadata.deletionTimestamp === undefined && isSuspendedByUs(item));
      await inParallel(ours, ({ metadata }) =>
        unlessGone(shoot.mergePatch(resource, metadata, { spec: { suspend: null } }, { fieldManager })),
      );
    }
  }
}

/** Of a merge patch the API server remembers who set which field. */
function isSuspendedByUs(object: KubeObject): boolean {
  const { managedFields = [] } = object.metadata;
  return isSuspended(object) && managedFields.some((entry) => entry.operation === 'Update' && isOurs(entry));
}

function isOurs({ manager, fieldsV1 }: ManagedFields): boolean {
  const spec = fieldsV1?.['f:spec'] as Record<string, unknown> | undefined;
  return manager === fieldManager && spec?.['f:suspend'] !== undefined;
}
