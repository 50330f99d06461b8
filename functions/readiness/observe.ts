import type { Applied, ShootObject } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import type { Observed } from './assess.ts';

/**
 * Reads Flux in the shoot: with three requests, and with one for each kind and namespace of other objects. One after the other: at once, each would open a connection of its
 * own, and the handshakes of TLS are most of what a run costs (10 ms instead of 5 ms of CPU time).
 */
export async function observe(shoot: KubeClient, applied: Applied): Promise<Observed> {
  const deployments = await shoot.list(resources.deployments, {
    namespace: applied.namespace,
    labelSelector: 'app.kubernetes.io/part-of=flux',
    limit: 100,
  });
  const source = await find(shoot, applied.source);
  const kustomization = await find(shoot, applied.kustomization);
  return { deployments: deployments.items, source, kustomization, others: await findAll(shoot, applied.others ?? []) };
}

/** From so many objects of one kind and namespace on, one list costs less than the requests. */
const LISTED_FROM = 3;
/** A namespace of the shoot may hold more; objects that are missing on the first page are read alone. */
const PAGE = 250;

/** Returns the objects at the positions of the references. */
async function findAll(shoot: KubeClient, references: readonly ShootObject[]): Promise<(KubeObject | undefined)[]> {
  const found = new Map<ShootObject, KubeObject>();
  for (const group of Map.groupBy(
    references,
    ({ apiVersion, kind, namespace }) => `${apiVersion} ${kind} ${namespace}`,
  ).values()) {
    const [first] = group;
    const items = first !== undefined && group.length >= LISTED_FROM ? await list(shoot, first) : [];
    for (const reference of group) {
      const object = items.find(({ metadata }) => metadata.name === reference.name) ?? (await find(shoot, reference));
      if (object !== undefined) found.set(reference, object);
    }
  }
  return references.map((reference) => found.get(reference));
}

async function list(shoot: KubeClient, object: ShootObject): Promise<KubeObject[]> {
  const { items } = await shoot.list(resourceOf(object), { namespace: object.namespace, limit: PAGE });
  return items;
}

async function find(shoot: KubeClient, object: ShootObject | undefined): Promise<KubeObject | undefined> {
  if (object === undefined) return undefined;
  const { namespace, name } = object;
  return shoot.find(resourceOf(object), { namespace, name });
}

function resourceOf({ apiVersion, kind }: ShootObject): Resource {
  const [group = '', version = ''] = apiVersion.split('/');
  // The plurals of all kinds of Flux follow this rule.
  const plural = `${kind.toLowerCase().replace(/y$/, 'ie')}s`;
  return { group, version, kind, plural, namespaced: true };
}
