import { rootObject } from '../../../functions/managed-resources/plan/plan.ts';
import { servedKind } from '../../../functions/managed-resources/shoot/objects.ts';
import { missingState, objectState, originOf } from '../../../functions/readiness/assess.ts';
import { controllersVerdict } from '../../../functions/readiness/controllers.ts';
import { failures, isForUser } from '../../../functions/readiness/explain/explain.ts';
import { nameOf, type Origin } from '../../../functions/readiness/explain/places.ts';
import { readiness } from '../../../functions/readiness/kstatus.ts';
import { observe } from '../../../functions/readiness/observe.ts';
import { conditionOf, essentials } from '../../../functions/readiness/seen.ts';
import { originOf as placeOf } from '../../../shared/config/origins.ts';
import { SUSPENDED } from '../../../shared/config/project-config.ts';
import { fluxKinds } from '../../../shared/config/templates.ts';
import type { EffectiveConfig } from '../../../shared/config/types.ts';
import { managedResourceNames } from '../../../shared/gardener/managed-resource.ts';
import type { Applied } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { type KubeObject, type Resource, resources } from '../../../shared/kube/resource.ts';
import { counted } from '../../../shared/runtime/safe-text.ts';
import { entriesAt, textAt } from '../../../shared/shapes.ts';
import { kubectl } from '../kubectl.ts';
import type { Report } from './link.ts';

/** What the shoot shows, how it was read, and the flags with which kubectl reaches it. */
export type ShootSeen = Awaited<ReturnType<typeof readFlux>> & { how: string; flags: string[] };

/** More objects of one kind are not read. */
const MOST_OBJECTS = 5000;

/**
 * Reads the controllers, and all objects of the kinds that Flux reports about.
 * @throws ForbiddenError where the credentials do not show them
 */
export async function readFlux(shoot: KubeClient, record: Applied, now: Date) {
  const kinds: Resource[] = [];
  const onItem = (crd: KubeObject) => {
    const served = servedKind(crd);
    if (served && failures[served.kind] !== undefined && fluxKinds[served.kind] === served.group) kinds.push(served);
  };
  const labelSelector = 'app.kubernetes.io/part-of=flux';
  await shoot.list(resources.customResourceDefinitions, { labelSelector, onItem });
  /** The essentials of each object, and how many objects a Kustomization has applied. */
  const objects: { object: KubeObject; inventory: number }[] = [];
  /** Kinds of which there are more objects than were read. */
  const unread: string[] = [];
  for (const kind of kinds) {
    const onItem = (item: KubeObject) => {
      if (isStatic(item)) return;
      const inventory = entriesAt(item, 'status', 'inventory', 'entries').length;
      objects.push({ object: { ...essentials(item), kind: kind.kind }, inventory });
    };
    const page = await shoot.list(kind, { onItem, limit: MOST_OBJECTS, onUnreadable: () => {} });
    if (page.continue !== undefined) unread.push(kind.kind);
  }
  const { source: _, kustomization: __, others: ___, ...controllers } = record;
  return { controllers: await observe(shoot, controllers, now), objects, unread };
}

/** The controller only reads a HelmRepository of a registry, and reports nothing. */
const isStatic = ({ kind, spec }: KubeObject) => kind === 'HelmRepository' && textAt(spec, 'type') === 'oci';

/** Returns what the shoot should have by its configuration, where the record of `managed-resources` is not seen. */
export function recordFrom(config: EffectiveConfig, fluxVersion = ''): Applied {
  const { flux, source, kustomization, objects, origins, syncMode, hasFluxConfig } = config;
  const roots = [source, kustomization].filter((object) => object !== undefined);
  const others = objects.flatMap((object, index) => {
    if (failures[object.kind] === undefined || isStatic(object)) return [];
    const { namespace = '', name } = object.metadata;
    const { apiVersion, kind } = object;
    return [{ apiVersion, kind, namespace, name, place: placeOf(origins, `objects[${index}]`) }];
  });
  return {
    ...{ configHash: '', fluxVersion, namespace: flux.namespace, ownsNamespace: false, objects: {} },
    ...{ components: [...flux.components], syncMode, fromFluxConfig: hasFluxConfig, others },
    managedResources: { [managedResourceNames.sync]: '' },
    source: rootObject(roots, config, 'source'),
    kustomization: rootObject(roots, config, 'kustomization'),
  };
}

/** A part of Flux that is not Ready. */
interface Finding {
  isBroken: boolean;
  /** The lowest explains the others. */
  rank: number;
  /** Takes milliseconds for some messages, and a shoot may have one in each of thousands of objects. */
  sentence: () => string;
  /** Undefined: the controllers. */
  object?: { kind: string; namespace?: string; name: string };
}

/** So many parts that are not Ready are named; the others are counted. */
const MOST_NAMED = 50;

/** Explains how Flux and its objects are in the shoot. */
export function explainFlux(seen: ShootSeen, record: Applied, now: Date): Report {
  const { objects, unread } = seen;
  const [first, ...others] = findingsOf(seen, record, now).sort((one, other) => one.rank - other.rank);
  const unnamed = others.length - MOST_NAMED;
  const details = [
    ...others.slice(0, MOST_NAMED).map(({ sentence }) => sentence()),
    ...(unnamed > 0 ? [`${unnamed} more ${unnamed === 1 ? 'is' : 'are'} not Ready.`] : []),
    ...unread.map((kind) => `Only the first ${MOST_OBJECTS} objects of kind ${kind} were read.`),
    ...readyDetails(seen),
    seen.how,
  ];
  if (first === undefined) {
    const release = record.fluxVersion && ` ${record.fluxVersion}`;
    const all = objects.length === 1 ? 'its object is Ready' : `all ${objects.length} objects are Ready`;
    const text = `Flux${release} is running; ${objects.length === 0 ? 'it has no objects' : all}`;
    return { mark: 'ok', text, details };
  }
  const parts = others.length === 0 ? '1 part is' : `${others.length + 1} parts are`;
  const text = `${parts} not Ready; Flux has ${counted(objects.length, 'object')}`;
  const { isBroken, sentence, object } = first;
  const args = object
    ? [`${object.kind.toLowerCase()}.${fluxKinds[object.kind]}`, object.name, '-o', 'yaml']
    : ['pods'];
  const { namespace = '' } = object ?? record;
  const command = kubectl(['get', ...args], { namespace, flags: seen.flags });
  return { mark: isBroken ? 'broken' : 'attention', text, sentence: sentence(), command, details };
}

/** What came from the repository, or users have created, is corrected where it is. */
const OF_USERS: Origin = { from: 'providerConfig', isReleased: true };

/** In the order of the configuration: a Kustomization waits for its source. */
function findingsOf({ controllers, objects }: ShootSeen, record: Applied, now: Date): Finding[] {
  const others = new Map(objects.map(({ object }) => [nameOf(object), object]));
  const configured = [record.source, record.kustomization, ...(record.others ?? [])].filter((one) => one !== undefined);
  const named = configured.flatMap((reference) => {
    const name = nameOf({ ...reference, metadata: reference });
    const object = others.get(name);
    others.delete(name);
    const origin = originOf(record, reference);
    if (object !== undefined) return findingOf(object, origin);
    const sentence = () => missingState(reference, origin).message;
    return [{ isBroken: true, rank: MISSING, sentence, object: reference }];
  });
  const { status, message } = controllersVerdict(record, controllers, { conditions: [], now });
  const ofControllers = { isBroken: true, rank: MISSING, sentence: () => message };
  return [
    ...(status === 'True' ? [] : [ofControllers]),
    ...named,
    ...[...others.values()].flatMap((object) => findingOf(object, OF_USERS)),
  ];
}

/** The rank of what is not there at all. */
const MISSING = -1;

/** Returns nothing for what is Ready. */
function findingOf(object: KubeObject, origin: Origin): Finding[] {
  const state = readiness(object);
  if (state.state === 'current') return [];
  const isConfigured = origin !== OF_USERS;
  const byProject = state.state === 'suspended' ? object.metadata.annotations?.[SUSPENDED] : undefined;
  // What users suspend or delete is what they want; a controller at work is no failure.
  const isFailing = state.state === 'failed' || conditionOf(object, 'Ready')?.status === 'False';
  const isWanted = state.state === 'suspended' || state.state === 'terminating';
  const isBroken = isWanted ? isConfigured && byProject === undefined : isFailing;
  const rank = (isBroken ? 0 : 4) + (isConfigured ? 0 : 2) + (isForUser(object.kind, state.message) ? 0 : 1);
  const sentence = () =>
    byProject === undefined
      ? objectState(object, state, origin).message
      : `${nameOf(object)} is suspended ${byProject}; shoot-flux resume --project PROJECT takes it back.`;
  return [{ isBroken, rank, sentence, object: { kind: object.kind, ...object.metadata } }];
}

const SYNCED: readonly string[] = ['Kustomization', 'GitRepository', 'OCIRepository', 'Bucket'];

/** A line for each source and Kustomization that is Ready, with what it has applied. */
function readyDetails({ objects }: ShootSeen): string[] {
  return objects.flatMap(({ object, inventory }) => {
    const state = readiness(object);
    if (state.state !== 'current' || !SYNCED.includes(object.kind)) return [];
    const applied = object.kind === 'Kustomization' ? `, ${counted(inventory, 'object')}` : '';
    return [`${nameOf(object)} is Ready${state.revision === undefined ? '' : ` at ${state.revision}`}${applied}`];
  });
}
