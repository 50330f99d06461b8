import { isDeepStrictEqual } from 'node:util';
import type { ConfigIssue } from '../../errors.ts';
import type { KubeObject } from '../../kube/resource.ts';
import type { Layer, ListedSource, ListedTemplate } from '../layer.ts';
import { limits, limitText } from '../limits.ts';
import { completeListed } from '../objects.ts';
import type { Origins } from '../origins.ts';
import { issueAt, type Place } from '../place.ts';
import { quote } from '../quote.ts';
import { resourceProblem } from '../shoot-resources.ts';
import type { ConfigInputs, CopiedSecret, FluxInstall } from '../types.ts';
import { inOrder } from './kinds.ts';

/** An object of the configuration, and where it is written. */
export interface PlacedObject {
  object: KubeObject;
  place: Place;
}

/** The copy of the credentials of a source, and where the source names them. */
export interface PlacedSecret {
  secret: CopiedSecret;
  place: Place;
}

/** What decides the objects besides the root pair. */
export interface ListedInputs {
  /** Highest first. */
  layers: readonly Layer[];
  sourceFrom: Layer;
  kustomizationFrom: Layer;
  flux: FluxInstall;
  source: KubeObject | undefined;
  kustomization: KubeObject | undefined;
  /** Where the layers set the root pair. */
  origins: Origins;
  shootResources: ConfigInputs['shootResources'];
  /** The credentials of the root source. */
  sourceSecret: CopiedSecret | undefined;
  /** Adds references to Secrets of the project. */
  wire: (object: KubeObject) => KubeObject;
}

/** The objects besides the root pair. */
export interface Listed {
  /** In the order in which they are applied. */
  objects: PlacedObject[];
  /** The credentials of their sources. */
  secrets: PlacedSecret[];
  /** Where each of them is written, by its position. */
  origins: Origins;
  issues: ConfigIssue[];
}

/**
 * Merges the lists: like the source and the Kustomization, each is taken as a whole from the highest layer that has it.
 */
export function mergeListed(inputs: ListedInputs): Listed {
  const { layers, sourceFrom, kustomizationFrom, flux, source } = inputs;
  const sources = sourceFrom.content.moreSources ?? [];
  const kustomizations = kustomizationFrom.content.moreKustomizations ?? [];
  const others = layers.find(({ content }) => content.objects !== undefined)?.content.objects ?? [];
  const complete = ({ template, place }: ListedTemplate): PlacedObject => ({
    object: inputs.wire(completeListed(template, flux, source)),
    place,
  });
  const objects = inOrderOfKinds([...sources, ...kustomizations, ...others].map(complete));
  const secrets = sources.map((one) => credentialsOf(one, complete(one).object)).filter((one) => one !== undefined);
  const origins = objects.map(({ place }, index) => [`objects[${index}]`, place]);
  return {
    objects,
    secrets: distinct(secrets).filter(({ secret }) => !isDeepStrictEqual(secret, inputs.sourceSecret)),
    origins: Object.fromEntries(origins),
    issues: [
      ...countIssues(inputs, objects),
      ...duplicateIssues(inputs, objects),
      ...resourceIssues(sources, inputs.shootResources),
    ],
  };
}

function inOrderOfKinds(objects: PlacedObject[]): PlacedObject[] {
  return inOrder(objects.map((placed) => ({ kind: placed.object.kind, placed }))).map(({ placed }) => placed);
}

/** Returns the copy of the credentials of a source, in its namespace, because Flux reads them only there. */
function credentialsOf(
  { secret: origin, place }: ListedSource,
  { spec, metadata }: KubeObject,
): PlacedSecret | undefined {
  const { secretRef } = spec as { secretRef?: { name: string } };
  if (origin === undefined || secretRef === undefined) return undefined;
  const secret = { origin, targetName: secretRef.name, namespace: metadata.namespace ?? '' };
  return { secret, place: { ...place, path: place.path.replace(/template$/, 'secretResourceName') } };
}

/** Two sources may read one repository with the same credentials. */
function distinct(secrets: PlacedSecret[]): PlacedSecret[] {
  return [...new Map(secrets.map((placed) => [JSON.stringify(placed.secret), placed])).values()];
}

function countIssues({ layers }: ListedInputs, objects: PlacedObject[]): ConfigIssue[] {
  const last = objects.at(-1);
  if (last === undefined || objects.length <= limits.objects.most) return [];
  const layer = layers.find((one) => one.object === last.place.object) ?? { object: last.place.object, path: '' };
  const message = `has ${objects.length} sources, Kustomizations and other objects for Flux; use at most ${limitText(limits.objects)}`;
  return [{ object: layer.object, path: layer.path, message }];
}

function duplicateIssues({ source, kustomization, origins }: ListedInputs, objects: PlacedObject[]): ConfigIssue[] {
  const roots = Object.entries({ source, kustomization }).flatMap(([part, object]) =>
    object === undefined ? [] : [[refOf(object), origins[part]?.path ?? 'repositoryUrl'] as const],
  );
  const seen = new Map<string, string>(roots);
  return objects.flatMap(({ object, place }) => {
    const ref = refOf(object);
    const owner = seen.get(ref);
    seen.set(ref, owner ?? place.path);
    if (owner === undefined) return [];
    const { kind, metadata } = object;
    const where = owner === 'repositoryUrl' ? 'that repositoryUrl creates' : `at ${owner}`;
    const message = `${quote(metadata.name)} is already the name of the ${kind} ${where} in namespace ${metadata.namespace}; use another name`;
    return [issueAt(place, 'metadata.name', message)];
  });
}

function refOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.namespace}/${metadata.name}`;
}

function resourceIssues(sources: ListedSource[], resources: ConfigInputs['shootResources']): ConfigIssue[] {
  return sources.flatMap(({ secret, place }) => {
    if (secret?.type !== 'resource') return [];
    const message = resourceProblem(secret.resourceName, 'credentials', resources);
    return message === undefined
      ? []
      : [{ object: place.object, path: place.path.replace(/template$/, 'secretResourceName'), message }];
  });
}
