import type { KubeClient } from '../../shared/kube/client.ts';
import type { Resource } from '../../shared/kube/resource.ts';
import { inParallel } from '../../shared/runtime/in-parallel.ts';
import { isSuspended, pruners } from './leaving.ts';
import { pages, unlessGone } from './pages.ts';
import { fieldManager } from './write.ts';

const PARALLEL = 8;

/**
 * Suspends all Kustomizations and HelmReleases, also those that others have deployed: a suspended one is deleted
 * without what it brought (facts/flux.md 4.3).
 * @param kinds as the shoot serves them; others than those two are left alone
 */
export async function suspendAll(shoot: KubeClient, kinds: Resource[]): Promise<void> {
  for (const resource of kinds.filter(({ kind }) => pruners.has(kind))) await suspendKind(shoot, resource);
}

async function suspendKind(shoot: KubeClient, resource: Resource): Promise<void> {
  for await (const items of pages(shoot, resource)) {
    const active = items.filter((item) => !isSuspended(item));
    await inParallel(PARALLEL, active, ({ metadata }) =>
      unlessGone(shoot.mergePatch(resource, metadata, { spec: { suspend: true } }, { fieldManager })),
    );
  }
}
