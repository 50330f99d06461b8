import type { Applied, ShootObject } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { AnswerTooLargeError } from '../../shared/kube/errors.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { inParallel } from '../../shared/runtime/in-parallel.ts';
import { fieldsOf, shapedConditions, textAt } from '../../shared/shapes.ts';
import type { Observed } from './assess.ts';
import { lateControllers } from './controllers.ts';
import { observePods } from './observe-pods.ts';

/**
 * Reads Flux in the shoot: with three requests, one for Pods that do not start, and few for each kind of other objects.
 * One after the other: at once, each would open a connection of its own, and the handshakes of TLS are most of what a
 * run costs (10 ms instead of 5 ms of CPU time). Only where the shoot is too slow for that, some at once.
 */
export async function observe(shoot: KubeClient, applied: Applied, now: Date): Promise<Observed> {
  const begin = performance.now();
  const source = await find(shoot, applied.source);
  const kustomization = await find(shoot, applied.kustomization);
  // After those: the largest answer, which outlives V8's cheap collections when it waits for others.
  const deployments = await shoot.list(resources.deployments, {
    namespace: applied.namespace,
    labelSelector: 'app.kubernetes.io/part-of=flux',
    limit: 100,
  });
  const controllers = deployments.items.map(essentials);
  const requests = [true, applied.source, applied.kustomization].filter((one) => one !== undefined).length;
  const pace = (performance.now() - begin) / requests;
  const others = await findAll(shoot, applied.others ?? [], pace);
  const late = lateControllers(applied, controllers, now);
  const pull = late.length === 0 ? undefined : await observePods(shoot, applied, late);
  return { deployments: controllers, pull, source, kustomization, others };
}

/** From so many objects of one kind and namespace on, or namespaces of one kind, one list costs less than the requests. */
const LISTED_FROM = 3;
/** There may be more objects of a kind; those that are missing on the first page are read alone. */
const PAGE = 250;
/** What the other objects may take, of the ten seconds of a run, before some are read at once. */
const PATIENCE_MS = 2000;

/**
 * Returns the objects at the positions of the references.
 * @param pace milliseconds that a request takes
 */
async function findAll(
  shoot: KubeClient,
  references: readonly ShootObject[],
  pace: number,
): Promise<(KubeObject | undefined)[]> {
  const each = <T, R>(items: T[], call: (item: T) => Promise<R>) =>
    items.length * pace > PATIENCE_MS ? inParallel(items, call) : inTurn(items, call);
  const listed = (await each(listsFor(references), (one) => list(shoot, one))).flat();
  const found = new Map(listed.map((object) => [keyOf(object.kind, object.metadata), object]));
  const missing = references.filter(({ kind, ...metadata }) => !found.has(keyOf(kind, metadata)));
  const read = await each(missing, (reference) => find(shoot, reference));
  const alone = new Map(missing.map((reference, index) => [reference, read[index]]));
  return references.map((reference) => alone.get(reference) ?? found.get(keyOf(reference.kind, reference)));
}

async function inTurn<T, R>(items: readonly T[], call: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await call(item));
  return results;
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
    const resource = resourceOf(first);
    const namespaces = Map.groupBy(ofKind, ({ namespace }) => namespace);
    if (namespaces.size >= LISTED_FROM) return [{ resource }];
    return [...namespaces]
      .filter(([, objects]) => objects.length >= LISTED_FROM)
      .map(([namespace]) => ({ resource, namespace }));
  });
}

/** The owner of the shoot may have objects beside ours, of any size: if there is too much, ours are read alone. */
async function list(shoot: KubeClient, { resource, namespace }: ListOf): Promise<KubeObject[]> {
  try {
    const { items } = await shoot.list(resource, { ...(namespace !== undefined && { namespace }), limit: PAGE });
    return items.map((item) => ({ ...essentials(item), kind: resource.kind }));
  } catch (error) {
    if (error instanceof AnswerTooLargeError) return [];
    throw error;
  }
}

/** Two kinds of one name have different API groups, which no record mixes. */
function keyOf(kind: string, { namespace, name }: { namespace?: string; name: string }): string {
  return `${kind} ${namespace}/${name}`;
}

async function find(shoot: KubeClient, object: ShootObject | undefined): Promise<KubeObject | undefined> {
  if (object === undefined) return undefined;
  const { namespace, name } = object;
  const found = await shoot.find(resourceOf(object), { namespace, name });
  return found && essentials(found);
}

function resourceOf({ apiVersion, kind }: ShootObject): Resource {
  const [group = '', version = ''] = apiVersion.split('/');
  // The plurals of all kinds of Flux follow this rule.
  const plural = `${kind.toLowerCase().replace(/y$/, 'ie')}s`;
  return { group, version, kind, plural, namespaced: true };
}

/** More than we write into a spec, or a controller into labels. */
const MOST_CHARACTERS = 128 * 1024;

/** Kinds of Flux and Deployments have a handful. */
const MOST_CONDITIONS = 50;
const LONGEST_TEXT = 5000;

/**
 * Returns what an assessment reads of an object. All objects of a check are kept until the last is read, and the API of a shoot
 * may answer with 3 MiB for each of a hundred; a Kustomization also has an inventory, which may be as large.
 */
export function essentials<T extends KubeObject>(object: T): T {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace, generation, deletionTimestamp, labels } = metadata;
  const status = fieldsOf(object.status);
  const artifact = textAt(status, 'artifact', 'revision');
  return {
    apiVersion,
    kind,
    metadata: {
      ...{ name, namespace, generation, deletionTimestamp: deletionTimestamp && cut(deletionTimestamp) },
      ...(labels && isShort(labels) && { labels }),
    },
    spec: specOf(fieldsOf(object.spec)),
    ...(status && {
      status: {
        ...short(status),
        ...(artifact !== undefined && { artifact: { revision: cut(artifact) } }),
        conditions: shapedConditions(status.conditions).slice(0, MOST_CONDITIONS).map(short),
      },
    }),
  } as unknown as T;
}

function specOf(spec: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
  return spec === undefined || isShort(spec) ? spec : short(spec);
}

/** Returns numbers, flags and the begin of texts of an object, and its first ones only. */
function short(fields: object): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  let count = 0;
  for (const key in fields) {
    if (++count > MOST_CONDITIONS) break;
    const value: unknown = fields[key as keyof typeof fields];
    if (typeof value === 'string') kept[key] = cut(value);
    else if (typeof value === 'number' || typeof value === 'boolean') kept[key] = value;
  }
  return kept;
}

/** A part of a text keeps the whole of it in memory, so a long one is copied. */
function cut(text: string): string {
  return text.length > LONGEST_TEXT ? Buffer.from(text.slice(0, LONGEST_TEXT)).toString() : text;
}

/** Counts until there is too much. Not by calls of itself: fields may be nested until the stack ends. */
function isShort(value: unknown): boolean {
  const rest: unknown[] = [value];
  let characters = 0;
  while (rest.length > 0 && characters + rest.length < MOST_CHARACTERS) {
    const one = rest.pop();
    characters += typeof one === 'string' ? one.length : 8;
    if (typeof one !== 'object' || one === null) continue;
    for (const key in one) {
      characters += key.length;
      rest.push(one[key as keyof typeof one]);
      if (rest.length > MOST_CHARACTERS) return false;
    }
  }
  return characters < MOST_CHARACTERS && rest.length === 0;
}
