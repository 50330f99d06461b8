import * as z from 'zod/mini';
import type { ConfigIssue } from '../../errors.ts';
import { type Check, duration, isSsh, kustomizationName, objectName, positiveDuration } from '../checks.ts';
import type { PlacedTemplate, Read, Template } from '../layer.ts';
import { misspelt, nearest } from '../nearest.ts';
import { inside, issueAt, type Place } from '../origins.ts';
import { quote } from '../quote.ts';
import { requiredKey, schemaIssues, text } from '../schema.ts';
import { metadataSchema, templateSpecs, tidyTemplate, withoutDroppedFields } from '../templates.ts';
import { asObject, asString, type JsonObject } from '../values.ts';

/** The CRD accepts anything, and Flux installs a chart with its own defaults where it cannot read these. */
const chartValues = z.custom(
  (value) => asObject(value) !== undefined,
  'must be an object, because Flux ignores all other values; write them below the key, without | and quotes',
);

const objectSchema = (kind: string) =>
  z.strictObject({
    apiVersion: z.optional(text(apiVersionOf(kind))),
    kind: text(),
    metadata: metadataSchema(
      requiredKey(text(kind === 'Kustomization' ? kustomizationName : objectName), {
        description: 'The name.',
        example: 'podinfo',
      }),
    ),
    spec: z.partial(templateSpecs[kind] ?? specOf(kind)),
  });

const specOf = (kind: string) =>
  z.looseObject({
    interval: text(duration),
    retryInterval: text(positiveDuration),
    timeout: text(positiveDuration),
    ...(kind === 'HelmRelease' && { values: chartValues }),
  });

/**
 * The kinds of Flux that this product knows -> their API group. The CRDs of the installed release decide which of them
 * a Shoot has.
 */
export const fluxKinds: Readonly<Record<string, string>> = {
  GitRepository: 'source.toolkit.fluxcd.io',
  OCIRepository: 'source.toolkit.fluxcd.io',
  Bucket: 'source.toolkit.fluxcd.io',
  HelmRepository: 'source.toolkit.fluxcd.io',
  HelmChart: 'source.toolkit.fluxcd.io',
  ExternalArtifact: 'source.toolkit.fluxcd.io',
  ArtifactGenerator: 'source.extensions.fluxcd.io',
  Provider: 'notification.toolkit.fluxcd.io',
  Alert: 'notification.toolkit.fluxcd.io',
  Receiver: 'notification.toolkit.fluxcd.io',
  ImageRepository: 'image.toolkit.fluxcd.io',
  ImagePolicy: 'image.toolkit.fluxcd.io',
  ImageUpdateAutomation: 'image.toolkit.fluxcd.io',
  Kustomization: 'kustomize.toolkit.fluxcd.io',
  HelmRelease: 'helm.toolkit.fluxcd.io',
};

/** A schema takes longer to make than to check one object with it. */
const schemas = new Map(Object.keys(fluxKinds).map((kind) => [kind, objectSchema(kind)]));

/**
 * Reads `objects`: whole manifests of Flux's own kinds. Their `spec` is checked later, by the CRDs of the release.
 * @param place where the list is
 */
export function readObjects(entries: unknown, place: Place): Read<PlacedTemplate[]> {
  if (!Array.isArray(entries)) return { issues: [] };
  const read = entries.map((entry, index) => readObject(entry, inside(place, `[${index}]`)));
  return {
    value: read.flatMap(({ value }) => value ?? []),
    issues: read.flatMap(({ issues }) => issues),
    warnings: read.flatMap(({ warnings }) => warnings ?? []),
  };
}

function readObject(entry: unknown, place: Place): Read<PlacedTemplate> {
  const given = tidyObject(entry);
  // The schema of the FluxConfig reports an entry that is not an object.
  if (given === undefined) return { issues: [] };
  const problem = kindProblem(given);
  if (problem !== undefined) return { issues: [issueAt(place, 'kind', problem)] };
  const kind = given.kind as string;
  const { template, warnings } = withoutDroppedFields(given, kind, place);
  const object = asObject(template) ?? {};
  const issues = schemaIssues(place, schemas.get(kind) ?? objectSchema(kind), object);
  if (issues.length === 0) issues.push(...keyIssues(object, place));
  if (issues.length > 0) return { issues };
  return { value: { template: object as unknown as Template, place }, issues, warnings };
}

/** The values of a chart keep their nulls: each removes a default of the chart. */
function tidyObject(entry: unknown): JsonObject | undefined {
  const object = asObject(tidyTemplate(entry));
  const values = asObject(asObject(entry)?.spec)?.values;
  if (object === undefined || values === undefined || values === null) return object;
  return { ...object, spec: { ...asObject(object.spec), values } };
}

/** The form of all kinds. Tables by kind would find what every object inherits, such as `constructor`. */
const KIND = /^[A-Z][A-Za-z0-9]{0,62}$/;

/** A kind that is unknown here may exist in a newer release, if its group is one of Flux. */
function kindProblem({ kind, apiVersion }: JsonObject): string | undefined {
  const known = Object.keys(fluxKinds);
  const name = asString(kind);
  if (name === undefined) return `is missing; use one of ${known.join(', ')}`;
  const mayBeNew = KIND.test(name) && misspelt(name, known) === undefined;
  const isOfFlux = mayBeNew && isFluxGroup(groupOf(asString(apiVersion) ?? ''));
  if (known.includes(name) || isOfFlux) return undefined;
  const suggestion = nearest(name, known);
  const remedy =
    suggestion === undefined
      ? `use one of ${known.join(', ')}, or put the object into the repository`
      : `did you mean ${suggestion}?`;
  return `${quote(name)} is not a kind of Flux; ${remedy}`;
}

const VERSION = /^v[0-9]+((alpha|beta)[0-9]+)?$/;

/** The version does not matter: the object is created in the version of the installed Flux. */
function apiVersionOf(kind: string): Check {
  return (value) => {
    const group = fluxKinds[kind] ?? groupOf(value);
    if (groupOf(value) === group && VERSION.test(value.slice(group.length + 1))) return undefined;
    return `${quote(value)} is not an API version of ${kind}; use ${group}/v1 or omit it`;
  };
}

/** Flux would refuse a repository over SSH without a key only in the shoot. */
function keyIssues({ kind, spec: given }: JsonObject, place: Place): ConfigIssue[] {
  const { url, secretRef } = asObject(given) ?? {};
  if (kind !== 'GitRepository' || secretRef !== undefined || !isSsh(asString(url) ?? '')) return [];
  const message =
    'is missing, but Flux needs a key to read over SSH; name the Secret that holds identity and known_hosts';
  return [issueAt(place, 'spec.secretRef', message)];
}

const order = Object.keys(fluxKinds);

/**
 * Returns the objects in the order in which they are applied: sources first, then what reports about the others, and what
 * deploys last, so that its first attempt finds the rest. Objects of one kind stay in the order of the configuration; which
 * of them waits for which is a matter of `dependsOn`.
 */
export function inOrder<T extends { kind: string }>(objects: readonly T[]): T[] {
  const rank = ({ kind }: T) => (fluxKinds[kind] === undefined ? order.length : order.indexOf(kind));
  return objects.toSorted((one, other) => rank(one) - rank(other));
}

/** Returns the API group of an apiVersion. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash === -1 ? '' : apiVersion.slice(0, slash);
}

/** Returns true for a group of Flux's own APIs. */
function isFluxGroup(group: string): boolean {
  return group.endsWith('.toolkit.fluxcd.io') || group.endsWith('.extensions.fluxcd.io');
}
