import type { KubeClient } from '../../../shared/kube/client.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { parseRef } from '../objects.ts';
import { foreignFlux } from '../plan/foreign.ts';
import { carriesOurMark } from '../shoot/mark.ts';
import { removeCrd } from './crds.ts';
import { isOfComponent } from './pods.ts';

/** CRDs by what may be done with them; an object that others manage now is theirs. */
export interface SortedCrds {
  ours: string[];
  foreign: string[];
}

/** Reads which of these CRDs are there, and are still ours. */
export async function sortCrds(shoot: KubeClient, crds: string[]): Promise<SortedCrds> {
  const found = await inParallel(crds, async (ref) => {
    const { metadata } = (await shoot.find(resources.customResourceDefinitions, parseRef(ref).name)) ?? {};
    return { ref, metadata };
  });
  const there = found.flatMap(({ ref, metadata }) => (metadata === undefined ? [] : [{ ref, metadata }]));
  const isOurs = ({ metadata }: (typeof there)[number]) =>
    foreignFlux(metadata) === undefined && carriesOurMark({ apiVersion: '', kind: '', metadata });
  return {
    ours: there.filter(isOurs).map(({ ref }) => ref),
    foreign: there.filter((crd) => !isOurs(crd)).map(({ ref }) => ref),
  };
}

/** More Deployments than these are certainly none of Flux's alone. */
const MOST_DEPLOYMENTS = 500;

/**
 * Returns a Deployment that may act on the objects of these components, as `namespace/name`: of one of them or of a shard in
 * the namespace of Flux, or one with the label of the component anywhere. One that stays although ours is gone belongs to a
 * user, who needs its kinds.
 */
export async function servingDeployment(
  shoot: KubeClient,
  namespace: string,
  components: readonly string[],
): Promise<string | undefined> {
  if (components.length === 0) return undefined;
  const options = { metadataOnly: true, limit: MOST_DEPLOYMENTS };
  const labelSelector = `app.kubernetes.io/component in (${components.join(',')})`;
  const [labelled, near] = await Promise.all([
    shoot.list(resources.deployments, { ...options, labelSelector }),
    shoot.list(resources.deployments, { ...options, namespace }),
  ]);
  const named = near.items.filter(({ metadata }) => isOfComponent(metadata.name, components));
  const [found] = [...named, ...labelled.items, ...(near.continue === undefined ? [] : near.items)];
  return found && `${found.metadata.namespace}/${found.metadata.name}`;
}

/**
 * Suspends the objects of these CRDs, removes the finalizers of Flux, and deletes the CRDs with all objects. Nothing that the
 * objects have deployed is deleted. Safe to repeat, also after a kill.
 * @returns true when all CRDs are gone
 */
export async function deleteCrds(shoot: KubeClient, crds: string[], isTimeUp: () => boolean): Promise<boolean> {
  const resource = resources.customResourceDefinitions;
  const gone = await inParallel(
    crds,
    (ref) => removeCrd(shoot, { resource, name: parseRef(ref).name.name }, isTimeUp),
    isTimeUp,
  );
  return gone.length === crds.length && !gone.includes(false);
}
