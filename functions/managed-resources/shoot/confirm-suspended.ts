import type { KubeClient } from '../../../shared/kube/client.ts';
import { unlessGone } from '../../../shared/kube/errors.ts';
import type { KubeObject, Resource } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { isSuspended, objectRef } from '../objects.ts';
import { steeringKeysPatch } from '../plan/steering-keys.ts';
import { fieldManager } from '../release.ts';

const plurals: Record<string, string> = { Kustomization: 'kustomizations', HelmRelease: 'helmreleases' };

/**
 * Returns the refs of those Kustomizations and HelmReleases that are suspended in the shoot, or gone. A ManagedResource
 * that is applied proves nothing: the resource-manager skips objects that carry some annotations. Such an object is
 * suspended here; the answer of the API server counts, because a webhook of the shoot may revert the patch.
 */
export async function confirmSuspended(shoot: KubeClient, objects: KubeObject[]): Promise<Set<string>> {
  const confirmed = await inParallel(objects, async (object) => {
    const resource = resourceOf(object);
    const live = await shoot.find(resource, object.metadata);
    return live === undefined || isSuspended(await suspended(shoot, resource, live));
  });
  return new Set(objects.filter((_, index) => confirmed[index] === true).map(objectRef));
}

async function suspended(shoot: KubeClient, resource: Resource, live: KubeObject): Promise<KubeObject> {
  const metadata = steeringKeysPatch(live);
  if (isSuspended(live) && metadata === undefined) return live;
  const patch = { spec: { suspend: true }, ...(metadata && { metadata }) };
  const patched = await unlessGone(shoot.mergePatch(resource, live.metadata, patch, { fieldManager }));
  return patched ?? { ...live, spec: { suspend: true } };
}

/** In the version of the content that was applied, which the shoot serves. */
function resourceOf({ apiVersion, kind }: KubeObject): Resource {
  const [group = '', version = ''] = apiVersion.split('/');
  return { group, version, kind, plural: plurals[kind] ?? `${kind.toLowerCase()}s`, namespaced: true };
}
