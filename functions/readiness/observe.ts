import { fluxResource } from '../../shared/flux/custom-resources.ts';
import type { Applied, ShootObject } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { AnswerTooLargeError, unless } from '../../shared/kube/errors.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { inParallel } from '../../shared/runtime/in-parallel.ts';
import type { Observed } from './assess.ts';
import { lateControllers } from './controllers.ts';
import { observePods } from './observe-pods.ts';
import { essentials } from './seen.ts';

/**
 * Reads Flux in the shoot: with three requests, one for Pods that do not start, and few for each kind of other objects.
 * One after the other: at once, each would open a connection of its own, and the handshakes of TLS are most of what a
 * run costs (10 ms instead of 5 ms of CPU time). Only long lists are read several at a time.
 */
export async function observe(shoot: KubeClient, applied: Applied, now: Date): Promise<Observed> {
  const source = await find(shoot, applied.source);
  const kustomization = await find(shoot, applied.kustomization);
  // After those: the largest answer, which outlives V8's cheap collections when it waits for others.
  const deployments = await shoot.list(resources.deployments, {
    namespace: applied.namespace,
    labelSelector: 'app.kubernetes.io/part-of=flux',
    limit: 100,
  });
  const controllers = deployments.items.map(essentials);
  const others = await findAll(shoot, applied.others ?? []);
  const late = lateControllers(applied, controllers, now);
  const pods = late.length === 0 ? undefined : await observePods(shoot, applied, late);
  return { deployments: controllers, pods, source, kustomization, others };
}

/** From so many objects of one kind and namespace on, or namespaces of one kind, one list costs less than the requests. */
const LISTED_FROM = 3;
/** There may be more objects of a kind; those that are missing on the first page are read alone. */
const PAGE = 250;

/** This many requests in turn fit into a run, even where each takes half a second. */
const MOST_IN_TURN = 8;

async function each<T, R>(items: T[], call: (item: T) => Promise<R>): Promise<R[]> {
  if (items.length > MOST_IN_TURN) return inParallel(items, call);
  const results: R[] = [];
  for (const item of items) results.push(await call(item));
  return results;
}

async function findAll(shoot: KubeClient, references: readonly ShootObject[]): Promise<(KubeObject | undefined)[]> {
  const listed = (await each(listsFor(references), (one) => list(shoot, one))).flat();
  const found = new Map(listed.map((object) => [keyOf(object.kind, object.metadata), object]));
  const missing = references.filter(({ kind, ...metadata }) => !found.has(keyOf(kind, metadata)));
  const read = await each(missing, (reference) => find(shoot, reference));
  const alone = new Map(missing.map((reference, index) => [reference, read[index]]));
  return references.map((reference) => alone.get(reference) ?? found.get(keyOf(reference.kind, reference)));
}

interface ListOf {
  resource: Resource;
  /** Absent: all namespaces. */
  namespace?: string;
}

/** Returns the lists that replace reads of single objects: of a namespace, or of all where a kind is in many. */
function listsFor(references: readonly ShootObject[]): ListOf[] {
  const byKind = Map.groupBy(references, ({ apiVersion, kind }) => `${apiVersion} ${kind}`);
  return [...byKind.values()].flatMap((ofKind) => {
    const [first] = ofKind;
    if (first === undefined) return [];
    const resource = fluxResource(first);
    const namespaces = Map.groupBy(ofKind, ({ namespace }) => namespace);
    if (namespaces.size >= LISTED_FROM) return [{ resource }];
    return [...namespaces]
      .filter(([, objects]) => objects.length >= LISTED_FROM)
      .map(([namespace]) => ({ resource, namespace }));
  });
}

/** The owner of the shoot may have objects beside ours, of any size: if there is too much, ours are read alone. */
async function list(shoot: KubeClient, { resource, namespace }: ListOf): Promise<KubeObject[]> {
  const options = { ...(namespace !== undefined && { namespace }), limit: PAGE };
  const page = await unless(shoot.list(resource, options), AnswerTooLargeError);
  return (page?.items ?? []).map((item) => ({ ...essentials(item), kind: resource.kind }));
}

/** Two kinds of one name have different API groups, which no record mixes. */
function keyOf(kind: string, { namespace, name }: { namespace?: string; name: string }): string {
  return `${kind} ${namespace}/${name}`;
}

async function find(shoot: KubeClient, object: ShootObject | undefined): Promise<KubeObject | undefined> {
  if (object === undefined) return undefined;
  const { namespace, name } = object;
  const found = await shoot.find(fluxResource(object), { namespace, name });
  return found && essentials(found);
}
