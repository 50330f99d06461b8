import { missingState, objectState, originOf } from '../../../functions/readiness/assess.ts';
import { controllersVerdict, type ObservedControllers } from '../../../functions/readiness/controllers.ts';
import { failures, isForUser } from '../../../functions/readiness/explain/explain.ts';
import { nameOf, type Origin } from '../../../functions/readiness/explain/places.ts';
import { readiness } from '../../../functions/readiness/kstatus.ts';
import { observe } from '../../../functions/readiness/observe.ts';
import { conditionOf, essentials } from '../../../functions/readiness/seen.ts';
import { fluxKinds } from '../../../shared/config/templates.ts';
import type { EffectiveConfig } from '../../../shared/config/types.ts';
import { managedResourceNames } from '../../../shared/gardener/managed-resource.ts';
import type { Applied, ShootObject } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { type KubeObject, type Resource, resource, resources } from '../../../shared/kube/resource.ts';
import { entriesAt, textAt } from '../../../shared/shapes.ts';
import { kubectl } from '../kubectl.ts';
import type { Link } from './link.ts';
import type { ShootSeen } from './read.ts';

/** What was read of Flux in a shoot. */
export interface SeenFlux {
  controllers: ObservedControllers;
  /** The essentials of each object, and how many objects a Kustomization has applied. */
  objects: { object: KubeObject; inventory: number }[];
  /** Kinds of which there are more objects than were read. */
  unread: string[];
}

/** More objects of one kind are not read. */
const MOST_OBJECTS = 5000;

/**
 * Reads the controllers, and all objects of the kinds that Flux reports about.
 * @throws ForbiddenError where the credentials do not show them
 */
export async function readFlux(shoot: KubeClient, record: Applied, now: Date): Promise<SeenFlux> {
  const kinds: Resource[] = [];
  const onItem = (crd: KubeObject) => kinds.push(...resourceOf(crd));
  const labelSelector = 'app.kubernetes.io/part-of=flux';
  await shoot.list(resources.customResourceDefinitions, { labelSelector, onItem });
  const objects: SeenFlux['objects'] = [];
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

/** Returns where the objects of a CRD are served; nothing for a kind that Flux does not report about. */
function resourceOf({ spec }: KubeObject): Resource[] {
  const [kind = '', plural = ''] = ['kind', 'plural'].map((name) => textAt(spec, 'names', name));
  const [group, version] = [fluxKinds[kind], entriesAt(spec, 'versions').find(({ storage }) => storage === true)?.name];
  const isReported = failures[kind] !== undefined && group !== undefined && textAt(spec, 'group') === group;
  return isReported && typeof version === 'string' ? [resource(group, version, plural, kind)] : [];
}

/** Returns what the shoot should have by its configuration, where the record of `managed-resources` is not seen. */
export function recordFrom(config: EffectiveConfig, fluxVersion = ''): Applied {
  const { flux, source, kustomization, objects, origins, syncMode, hasFluxConfig } = config;
  const reference = ({ apiVersion, kind, metadata }: KubeObject, part: string): ShootObject => {
    const place = origins[part]?.path === `${part}.template` ? undefined : origins[part];
    return { apiVersion, kind, namespace: metadata.namespace ?? '', name: metadata.name, ...(place && { place }) };
  };
  const others = objects.flatMap((object, index) =>
    failures[object.kind] === undefined || isStatic(object) ? [] : [reference(object, `objects[${index}]`)],
  );
  return {
    ...{ configHash: '', fluxVersion, namespace: flux.namespace, ownsNamespace: false, objects: {} },
    ...{ components: [...flux.components], syncMode, fromFluxConfig: hasFluxConfig },
    managedResources: { [managedResourceNames.sync]: '' },
    ...(source && { source: reference(source, 'source') }),
    ...(kustomization && { kustomization: reference(kustomization, 'kustomization') }),
    others: others as NonNullable<Applied['others']>,
  };
}

/** A part of Flux that is not Ready. */
interface Finding {
  isBroken: boolean;
  /** The lowest explains the others. */
  rank: number;
  /** Takes milliseconds for some messages, and a shoot may have one in each of thousands of objects. */
  sentence: () => string;
  command: string;
}

/** So many parts that are not Ready are named; the others are counted. */
const MOST_NAMED = 50;

/** Explains how Flux and its objects are in the shoot. @param seen or why they are not seen */
export function explainFlux(seen: ShootSeen | string, record: Applied, now: Date): Link {
  if (typeof seen === 'string') return { name: 'Flux', mark: 'unseen', text: seen, details: [] };
  const { objects, unread } = seen.flux;
  const [first, ...others] = findingsOf(seen, record, now).sort((one, other) => one.rank - other.rank);
  const unnamed = others.length - MOST_NAMED;
  const details = [
    ...others.slice(0, MOST_NAMED).map(({ sentence }) => sentence()),
    ...(unnamed > 0 ? [`${unnamed} more are not Ready.`] : []),
    ...unread.map((kind) => `Only the first ${MOST_OBJECTS} objects of kind ${kind} were read.`),
    ...readyDetails(seen.flux),
    seen.how,
  ];
  const count = objects.length === 1 ? '1 object' : `${objects.length} objects`;
  if (first === undefined) {
    const text = `Flux${record.fluxVersion && ` ${record.fluxVersion}`} is running; ${objects.length} of ${objects.length} objects are Ready`;
    return { name: 'Flux', mark: 'ok', text, details };
  }
  const text = `${others.length === 0 ? '1 part is' : `${others.length + 1} parts are`} not Ready; Flux has ${count}`;
  const { isBroken, command } = first;
  return { name: 'Flux', mark: isBroken ? 'broken' : 'attention', text, sentence: first.sentence(), command, details };
}

/** What came from the repository, or users have created, is corrected where it is. */
const OF_USERS: Origin = { from: 'providerConfig', isReleased: true };

function findingsOf({ flux: { controllers, objects }, flags }: ShootSeen, record: Applied, now: Date): Finding[] {
  const verdict = controllersVerdict(record, controllers, { conditions: [], now });
  const pods = kubectl(['get', 'pods'], { namespace: record.namespace, flags });
  const ofControllers = { isBroken: true, rank: 0, sentence: () => verdict.message, command: pods };
  const configured = [record.source, record.kustomization, ...(record.others ?? [])].filter((one) => one !== undefined);
  const named = new Map(configured.map((one) => [nameOf({ ...one, metadata: one }), one]));
  const found = new Map(objects.map(({ object }) => [nameOf(object), object]));
  const missing = [...named]
    .filter(([name]) => !found.has(name))
    .map(([, one]): Finding => {
      const sentence = () => missingState(one, originOf(record, one)).message;
      return { isBroken: true, rank: 0, sentence, command: commandFor(one, one, flags) };
    });
  // In the order of the configuration: a Kustomization waits for its source.
  const names = new Set([...named.keys(), ...found.keys()]);
  const notReady = [...names].flatMap((name) => findingOf(found.get(name), named.get(name), record, flags));
  return [...(verdict.status === 'True' ? [] : [ofControllers]), ...missing, ...notReady];
}

function findingOf(
  object: KubeObject | undefined,
  reference: ShootObject | undefined,
  record: Applied,
  flags: string[],
): Finding[] {
  const state = object && readiness(object);
  if (object === undefined || state === undefined || state.state === 'current') return [];
  // What users suspend or delete is what they want; a controller at work is no failure.
  const isFailing = state.state === 'failed' || conditionOf(object, 'Ready')?.status === 'False';
  const isWanted = state.state === 'suspended' || state.state === 'terminating';
  const isBroken = isWanted ? reference !== undefined : isFailing;
  const rank = (isBroken ? 0 : 4) + (reference ? 0 : 2) + (isForUser(object.kind, state.message) ? 0 : 1);
  const origin = reference === undefined ? OF_USERS : originOf(record, reference);
  const sentence = () => objectState(object, state, origin).message;
  return [{ isBroken, rank, sentence, command: commandFor(object, object.metadata, flags) }];
}

function commandFor(
  { kind }: { kind: string },
  { namespace = '', name }: { namespace?: string; name: string },
  flags: string[],
): string {
  return kubectl(['get', `${kind.toLowerCase()}.${fluxKinds[kind]}`, name, '-o', 'yaml'], { namespace, flags });
}

const SYNCED: readonly string[] = ['Kustomization', 'GitRepository', 'OCIRepository', 'Bucket'];

/** A line for each source and Kustomization that is Ready, with what it has applied. */
function readyDetails({ objects }: SeenFlux): string[] {
  return objects.flatMap(({ object, inventory }) => {
    const state = readiness(object);
    if (state.state !== 'current' || !SYNCED.includes(object.kind)) return [];
    const applied = object.kind === 'Kustomization' ? `, ${inventory} ${inventory === 1 ? 'object' : 'objects'}` : '';
    return [`${nameOf(object)} is Ready${state.revision === undefined ? '' : ` at ${state.revision}`}${applied}`];
  });
}
