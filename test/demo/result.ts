import type { Landscape } from '@shoot-flux/landscape';
import type { Cluster } from '@shoot-flux/landscape/cluster';
import type { Extension } from '../../shared/gardener/types.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { extensionName, short } from './observe.ts';
import type { Output } from './output.ts';
import { versions } from './podinfo.ts';

/** Prints the table at the end. @returns one sentence for each failure */
export async function showResult(output: Output, landscape: Landscape, shootIds: readonly string[]): Promise<string[]> {
  const missing: string[] = [];
  const rows = [['Shoot', 'Extension', 'Flux', 'source', 'Kustomization', 'podinfo']];
  for (const id of shootIds) {
    const cluster = landscape.shoot(id);
    const extension = await landscape.seed.client.find<Extension>(resources.extensions, extensionName(id));
    const state = extension?.status?.lastOperation?.state ?? 'absent';
    const [source, kustomization] = await Promise.all([
      revisionOf(cluster, 'source.toolkit.fluxcd.io', 'gitrepositories', 'main-gitrepo'),
      revisionOf(cluster, 'kustomize.toolkit.fluxcd.io', 'kustomizations', 'main-ks'),
    ]);
    const podinfo = await podinfoIn(cluster);
    const version = podinfo.image.split(':').at(-1) ?? '';
    if (state !== 'Succeeded') missing.push(`the Extension of ${id} is ${state}`);
    if (!podinfo.available || version !== versions.second)
      missing.push(`${id} does not run podinfo ${versions.second}`);
    const flux = extension?.status?.state?.applied?.fluxVersion ?? '-';
    rows.push([id, state, flux, short(source), short(kustomization), podinfo.available ? version : 'not available']);
  }
  output.chapter('What the Shoots run');
  output.table(rows);
  return missing;
}

async function revisionOf(cluster: Cluster | undefined, group: string, plural: string, name: string): Promise<string> {
  const resource = { group, version: 'v1', plural, kind: '', namespaced: true };
  const object: KubeObject | undefined = await cluster?.client.find(resource, { namespace: 'flux-system', name });
  const status = (object?.status ?? {}) as { artifact?: { revision?: string }; lastAppliedRevision?: string };
  return status.lastAppliedRevision ?? status.artifact?.revision ?? '-';
}

/** Returns image and availability of podinfo in a shoot. */
export async function podinfoIn(cluster: Cluster | undefined): Promise<{ image: string; available: boolean }> {
  const deployment = await cluster?.client.find(resources.deployments, { namespace: 'default', name: 'podinfo' });
  const spec = deployment?.spec as { template?: { spec?: { containers?: { image?: string }[] } } } | undefined;
  const status = (deployment?.status ?? {}) as { availableReplicas?: number; observedGeneration?: number };
  const available =
    (status.availableReplicas ?? 0) > 0 && status.observedGeneration === deployment?.metadata.generation;
  return { image: spec?.template?.spec?.containers?.[0]?.image ?? '', available };
}
