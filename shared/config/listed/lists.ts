import { isDeepStrictEqual } from 'node:util';
import type { ConfigIssue } from '../../errors.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { completeListed, type Root } from '../complete.ts';
import type { Layer, ListedSource, ListedTemplate } from '../layer.ts';
import { limits, limitText } from '../limits.ts';
import { issueAt, type Origins, originOf, type Place } from '../origins.ts';
import { quote, shown } from '../quote.ts';
import { resourceProblem, resourcesByName } from '../shoot-resources.ts';
import type { ConfigInputs, CopiedSecret, FluxInstall } from '../types.ts';
import { asObject } from '../values.ts';
import { linkProblems, linksOf } from './links.ts';
import { inOrder } from './read-objects.ts';
import { type Available, secretIssues } from './secret-rules.ts';

/** An object of the configuration, and where it is written. */
export interface PlacedObject {
  object: KubeObject;
  place: Place;
}

/** The copy of the credentials of a source, and where the source names them. */
interface PlacedSecret {
  secret: CopiedSecret;
  place: Place;
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
export function mergeListed(inputs: Root): Listed {
  const { content, flux, source } = inputs;
  const sources = content.moreSources ?? [];
  const kustomizations = content.moreKustomizations ?? [];
  const others = content.objects ?? [];
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

function countIssues({ layers }: Root, objects: PlacedObject[]): ConfigIssue[] {
  const last = objects.at(-1);
  if (last === undefined || objects.length <= limits.objects.most) return [];
  const layer = layers.find((one) => one.object === last.place.object) ?? { object: last.place.object, path: '' };
  const message = `has ${objects.length} sources, Kustomizations and other objects for Flux; use at most ${limitText(limits.objects)}`;
  return [{ object: layer.object, path: layer.path, message }];
}

function duplicateIssues({ source, kustomization, origins }: Root, objects: PlacedObject[]): ConfigIssue[] {
  const roots = Object.entries({ source, kustomization }).flatMap(([part, object]) =>
    object === undefined ? [] : [[idOf(object), origins[part]?.path ?? 'repositoryUrl'] as const],
  );
  const seen = new Map<string, string>(roots);
  return objects.flatMap(({ object, place }) => {
    const ref = idOf(object);
    const owner = seen.get(ref);
    seen.set(ref, owner ?? place.path);
    if (owner === undefined) return [];
    const { kind, metadata } = object;
    const where = owner === 'repositoryUrl' ? 'that repositoryUrl creates' : `at ${owner}`;
    const message = `${quote(metadata.name)} is already the name of the ${kind} ${where} in namespace ${metadata.namespace}; use another name`;
    return [issueAt(place, 'metadata.name', message)];
  });
}

function idOf({ kind, metadata }: KubeObject): string {
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

/** What the rules for listed objects find. */
interface ListedProblems {
  issues: ConfigIssue[];
  warnings: ConfigIssue[];
}

/**
 * Checks the listed objects against each other, and against what is in the shoot for them. The short forms `source` and
 * `kustomization` keep their own rules: they may name what the user has created in the shoot.
 * @param available what is in the shoot for them, with the credentials of the listed sources
 */
export function listedProblems(
  inputs: Root,
  { objects, secrets, issues }: Listed,
  available: Available,
): ListedProblems {
  const { layers, flux, source, kustomization } = inputs;
  if (layers.some(({ isRead }) => !isRead)) return { issues: [], warnings: [] };
  const roots = listedRoots(inputs);
  const others = [source, kustomization].filter(
    (object) => object !== undefined && !roots.some((root) => root.object === object),
  );
  const all = [...roots, ...objects];
  const links = linkProblems(all, others as KubeObject[]);
  const found = [
    ...(isComplete(inputs) ? links.issues : links.issues.filter(isCertain)),
    ...secretIssues(all, available),
  ];
  return {
    issues: [
      ...issues,
      ...namespaceIssues(objects, flux),
      ...collisionIssues(secrets, available),
      ...found.map((issue) => whereWritten(issue, inputs.origins)),
    ],
    warnings: links.warnings,
  };
}

/** False if an object is missing here because it has an issue of its own; others may well name it. */
function isComplete({ layers, source, kustomization, sourceFrom, kustomizationFrom }: Root): boolean {
  const lacksSource = source === undefined && sourceFrom.sets.source;
  const lacksKustomization = kustomization === undefined && kustomizationFrom.sets.kustomization;
  const lacksListed = layers.some(({ issues }) => issues.some(({ path }) => IN_LIST.test(path)));
  return !lacksSource && !lacksKustomization && !lacksListed;
}

const IN_LIST = /(^|\.)(sources|kustomizations|objects)\[/;

const isCertain = ({ mayBeElsewhere }: ConfigIssue) => mayBeElsewhere !== true;

/** A patch of a higher layer may have set the field of the root Kustomization. */
function whereWritten(issue: ConfigIssue, origins: Origins): ConfigIssue {
  const { object, path } = originOf(origins, 'kustomization');
  if (issue.object !== object || !issue.path.startsWith(`${path}.`)) return issue;
  return { ...issue, ...originOf(origins, `kustomization${issue.path.slice(path.length)}`) };
}

/** Returns the root pair, as far as it comes from lists. */
function listedRoots({ source, kustomization, sourceFrom, kustomizationFrom, origins }: Root): PlacedObject[] {
  const rootOf = (part: 'source' | 'kustomization', object: KubeObject | undefined, from: Layer): PlacedObject[] =>
    object === undefined || from.listed?.[part]?.endsWith('[0]') !== true
      ? []
      : [{ object, place: originOf(origins, part) }];
  return [...rootOf('source', source, sourceFrom), ...rootOf('kustomization', kustomization, kustomizationFrom)];
}

/** Credentials must not replace another copy, such as the landscape's pull secret. */
function collisionIssues(secrets: readonly PlacedSecret[], { copies, shootResources }: Available): ConfigIssue[] {
  const byName = resourcesByName(shootResources);
  const nameOf = ({ namespace, targetName, origin }: CopiedSecret) => {
    const entry = origin.type === 'resource' ? byName.get(origin.resourceName) : undefined;
    return `${namespace}/${targetName ?? entry?.resourceName}`;
  };
  const taken = Map.groupBy(copies, nameOf);
  return secrets.flatMap(({ secret, place }) => {
    const sameName = taken.get(nameOf(secret)) ?? [];
    if (sameName.every((other) => isDeepStrictEqual(other, secret))) return [];
    const message = `would be copied to Secret ${nameOf(secret)}, which is already taken by another copy; set template.spec.secretRef.name to another name`;
    return [issueAt(place, '', message)];
  });
}

/** Kinds that act with the rights of an account. */
const ACTING: ReadonlySet<string> = new Set(['Kustomization', 'HelmRelease']);

/** Returns the issues with the namespaces of listed objects: the same rules as for the root pair. */
function namespaceIssues(objects: readonly PlacedObject[], flux: FluxInstall): ConfigIssue[] {
  return objects.flatMap((placed) => [...watchedIssues(placed, flux), ...tenancyIssues(placed, flux)]);
}

/** Controllers that watch only their own namespace ignore objects elsewhere. */
function watchedIssues({ object, place }: PlacedObject, flux: FluxInstall): ConfigIssue[] {
  if (flux.watchAllNamespaces || object.metadata.namespace === flux.namespace) return [];
  const message = `must be ${flux.namespace}, because watchAllNamespaces is false; omit it or set watchAllNamespaces to true`;
  return [issueAt(place, 'metadata.namespace', message)];
}

/** With multi-tenancy, the controllers read no object of another namespace, and act as an account of the namespace. */
function tenancyIssues({ object, place }: PlacedObject, flux: FluxInstall): ConfigIssue[] {
  if (flux.multiTenancy !== true) return [];
  const { namespace } = object.metadata;
  const { serviceAccountName, kubeConfig } = asObject(object.spec) ?? {};
  const issues = linksOf(object)
    .filter((link) => link.namespace !== namespace)
    .map((link) =>
      issueAt(
        place,
        link.path,
        `names an object in namespace ${shown(link.namespace)}, which multiTenancy does not permit; use one in ${namespace}`,
      ),
    );
  const needsAccount = ACTING.has(object.kind) && namespace !== flux.namespace;
  if (needsAccount && serviceAccountName === undefined && kubeConfig === undefined) {
    const message = `is missing, which multiTenancy requires outside of ${flux.namespace}; name a ServiceAccount that may apply the objects`;
    issues.push(issueAt(place, 'spec.serviceAccountName', message));
  }
  return issues;
}
