import { missingState, objectState, originOf } from '../../../functions/readiness/assess.ts';
import { controllersVerdict, type ObservedControllers } from '../../../functions/readiness/controllers.ts';
import { failures, isForUser } from '../../../functions/readiness/explain/explain.ts';
import { nameOf, type Origin } from '../../../functions/readiness/explain/places.ts';
import { type Readiness, readiness } from '../../../functions/readiness/kstatus.ts';
import { observe } from '../../../functions/readiness/observe.ts';
import { conditionOf, essentials } from '../../../functions/readiness/seen.ts';
import { fluxKinds } from '../../../shared/config/templates.ts';
import type { EffectiveConfig } from '../../../shared/config/types.ts';
import { managedResourceNames } from '../../../shared/gardener/managed-resource.ts';
import type { Applied, ShootObject } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { type KubeObject, type ObjectMeta, type Resource, resource, resources } from '../../../shared/kube/resource.ts';
import { safeText } from '../../../shared/runtime/safe-text.ts';
import { entriesAt, textAt } from '../../../shared/shapes.ts';
import { kubectl, type Link, safeSentence } from './link.ts';

/** An object of Flux in the shoot. */
interface FluxObject {
  /** Its essentials. */
  object: KubeObject;
  /** How many objects a Kustomization has applied. */
  inventory: number;
}

/** What was read of Flux in a shoot. */
export interface SeenFlux {
  controllers: ObservedControllers;
  objects: FluxObject[];
}

/** More objects of one kind are not read. */
const MOST_OBJECTS = 5000;

/**
 * Reads the controllers, and all objects of the kinds that Flux reports about.
 * @throws ForbiddenError where the credentials do not show them
 */
export async function readFlux(shoot: KubeClient, record: Applied, now: Date): Promise<SeenFlux> {
  const kinds: Resource[] = [];
  await shoot.list(resources.customResourceDefinitions, {
    labelSelector: 'app.kubernetes.io/part-of=flux',
    onItem: (crd) => kinds.push(...resourceOf(crd)),
  });
  const objects: FluxObject[] = [];
  for (const kind of kinds) {
    const most = objects.length + MOST_OBJECTS;
    const onItem = (item: KubeObject) => {
      if (objects.length >= most) return;
      const inventory = entriesAt(item, 'status', 'inventory', 'entries').length;
      objects.push({ object: { ...essentials(item), kind: kind.kind }, inventory });
    };
    await shoot.list(kind, { onItem, limit: MOST_OBJECTS, onUnreadable: () => {} });
  }
  const { source: _, kustomization: __, others: ___, ...controllers } = record;
  return { controllers: await observe(shoot, controllers, now), objects };
}

/** Returns where the objects of a CRD are served, if it is one of those that Flux reports about. */
function resourceOf({ spec }: KubeObject): Resource[] {
  const [kind = '', plural = '', group = ''] = [
    textAt(spec, 'names', 'kind'),
    textAt(spec, 'names', 'plural'),
    textAt(spec, 'group'),
  ];
  const stored = entriesAt(spec, 'versions').find(({ storage }) => storage === true);
  const version = textAt(stored, 'name');
  if (version === undefined || failures[kind] === undefined || fluxKinds[kind] !== group) return [];
  return [resource(group, version, plural, kind)];
}

/** Returns what the shoot should have by its configuration, where the record of `managed-resources` is not seen. */
export function recordFrom(config: EffectiveConfig, fluxVersion = ''): Applied {
  const { flux, source, kustomization, objects, origins, syncMode, hasFluxConfig } = config;
  const reference = (object: KubeObject, part: string): ShootObject => {
    const { apiVersion, kind, metadata } = object;
    const place = origins[part]?.path === `${part}.template` ? undefined : origins[part];
    return { apiVersion, kind, namespace: metadata.namespace ?? '', name: metadata.name, ...(place && { place }) };
  };
  return {
    ...{ configHash: 'unknown', fluxVersion, namespace: flux.namespace, ownsNamespace: false, objects: {} },
    ...{ components: [...flux.components], syncMode, fromFluxConfig: hasFluxConfig },
    managedResources: { [managedResourceNames.sync]: '' },
    ...(source && { source: reference(source, 'source') }),
    ...(kustomization && { kustomization: reference(kustomization, 'kustomization') }),
    others: objects
      .map((object, index) => reference(object, `objects[${index}]`))
      .filter(({ kind }) => failures[kind] !== undefined) as NonNullable<Applied['others']>,
  };
}

/** A part of Flux that is not Ready. */
interface Finding {
  isBroken: boolean;
  /** The configuration names it. */
  isConfigured: boolean;
  /** A user has to correct something. */
  isForUser: boolean;
  /** Takes milliseconds for some messages, and a shoot may have one in each of thousands of objects. */
  sentence: () => string;
  command: string;
}

/** So many parts that are not Ready are named; the others are counted. */
const MOST_NAMED = 50;

/** The objects that came from the repository, or that users have created, are corrected where they are. */
const OF_USERS: Origin = { from: 'providerConfig', isReleased: true };

/**
 * Explains how Flux and its objects are in the shoot.
 * @param how how they were read, for people
 */
export function explainFlux(seen: SeenFlux, record: Applied, how: string, flags: readonly string[], now: Date): Link {
  const findings = findingsOf(seen, record, flags, now).sort((one, other) => rank(one) - rank(other));
  const [first, ...others] = findings;
  const sentences = others.slice(0, MOST_NAMED).map(({ sentence }) => safeSentence(sentence()));
  const unnamed = others.length - sentences.length;
  const more = unnamed === 0 ? [] : [`${unnamed} more are not Ready.`];
  const details = [...sentences, ...more, ...readyDetails(seen), how];
  const count = seen.objects.length;
  if (first === undefined) {
    const objects = count === 1 ? 'its only object is' : `all ${count} objects are`;
    const text = `Flux${record.fluxVersion && ` ${record.fluxVersion}`} is running, and ${objects} Ready`;
    return { name: 'Flux', mark: 'ok', text, details };
  }
  const { isBroken, command } = first;
  const text = `${findings.length === 1 ? '1 part is' : `${findings.length} parts are`} not Ready; Flux has ${count} objects`;
  const sentence = safeSentence(first.sentence());
  return { name: 'Flux', mark: isBroken ? 'broken' : 'attention', text, sentence, command, details };
}

/** What the configuration names comes first, as the rest follows from it; then what a user has to correct. */
const rank = ({ isBroken, isConfigured, isForUser }: Finding) =>
  (isBroken ? 0 : 4) + (isConfigured ? 0 : 2) + (isForUser ? 0 : 1);

function findingsOf(
  { controllers, objects }: SeenFlux,
  record: Applied,
  flags: readonly string[],
  now: Date,
): Finding[] {
  const found = new Map(objects.map(({ object }) => [nameOf(object), object]));
  const configured = [record.source, record.kustomization, ...(record.others ?? [])].filter((one) => one !== undefined);
  const names = configured.map((reference) => nameOf({ ...reference, metadata: reference }));
  const named = new Set(names);
  const verdict = controllersVerdict(record, controllers, { conditions: [], now });
  const ofControllers: Finding = {
    ...{ isBroken: verdict.reason !== 'Progressing', isConfigured: true, isForUser: true },
    ...{ sentence: () => verdict.message, command: kubectl(['get', 'pods'], record.namespace, flags) },
  };
  const command = (
    { apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>,
    { namespace = '', name }: ObjectMeta,
  ) => {
    const group = apiVersion.split('/')[0] || fluxKinds[kind];
    return kubectl(['get', `${kind.toLowerCase()}.${group}`, name, '-o', 'yaml'], namespace, flags);
  };
  const finding = (object: KubeObject, origin: Origin, isConfigured: boolean): Finding[] => {
    const state = readiness(object);
    if (state.state === 'current') return [];
    return [
      {
        ...{
          isBroken: isBroken(object, state, isConfigured),
          isConfigured,
          isForUser: isForUser(object.kind, state.message),
        },
        sentence: () => objectState(object, state, origin).message,
        command: command(object, object.metadata),
      },
    ];
  };
  return [
    ...(verdict.status === 'True' ? [] : [ofControllers]),
    ...configured.flatMap((reference, index): Finding[] => {
      const object = found.get(names[index] ?? '');
      const origin = originOf(record, reference);
      if (object !== undefined) return finding(object, origin, true);
      const missing = { isBroken: true, isConfigured: true, isForUser: true };
      return [
        { ...missing, sentence: () => missingState(reference, origin).message, command: command(reference, reference) },
      ];
    }),
    ...[...found].flatMap(([name, object]) => (named.has(name) ? [] : finding(object, OF_USERS, false))),
  ];
}

/** While a controller is at work nothing is broken; what users suspend or delete is what they want. */
function isBroken(object: KubeObject, { state }: Readiness, isConfigured: boolean): boolean {
  if (state === 'failed') return true;
  if (state === 'in progress') return conditionOf(object, 'Ready')?.status === 'False';
  return isConfigured;
}

/** A line for each source and Kustomization that is Ready, with what it has applied. */
function readyDetails({ objects }: SeenFlux): string[] {
  return objects.flatMap(({ object, inventory }) => {
    const state = readiness(object);
    if (
      state.state !== 'current' ||
      !['Kustomization', 'GitRepository', 'OCIRepository', 'Bucket'].includes(object.kind)
    )
      return [];
    const at = state.revision === undefined ? '' : ` at ${safeText(state.revision)}`;
    const what = object.kind === 'Kustomization' ? `, ${inventory} ${inventory === 1 ? 'object' : 'objects'}` : '';
    return [`${nameOf(object)} is Ready${at}${what}`];
  });
}
