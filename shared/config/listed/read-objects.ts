import * as z from 'zod/mini';
import type { ConfigIssue } from '../../errors.ts';
import { isSsh } from '../checks.ts';
import { fieldIssues, fieldWarnings } from '../field-rules.ts';
import { misspelt, nearest } from '../nearest.ts';
import { inside, issueAt, type Place } from '../origins.ts';
import { quote } from '../quote.ts';
import { schemaIssues, text } from '../schema.ts';
import { fluxKinds, groupOf, manifestSchema, templateSpecs, tidyTemplate, withoutDroppedFields } from '../templates.ts';
import type { PlacedTemplate, Read, Template } from '../types.ts';
import { asObject, asString, type JsonObject } from '../values.ts';

/** The kinds, in the order in which their objects are applied. */
const known = Object.keys(fluxKinds);

/** The CRD accepts anything, and Flux installs a chart with its own defaults where it cannot read these. */
const chartValues = z.custom(
  (value) => asObject(value) !== undefined,
  'must be an object, because Flux ignores all other values; write them below the key, without | and quotes',
);

/** The fields whose type is checked in the spec of kinds that are no templates. */
const specOf = (kind: string) => z.looseObject({ ...(kind === 'HelmRelease' && { values: chartValues }) });

/** A schema takes longer to make than to check one object with it. */
const schemas = new Map(known.map((kind) => [kind, objectSchema(kind)]));

export function objectSchema(kind: string) {
  return manifestSchema(kind, text(), z.partial(templateSpecs[kind] ?? specOf(kind)));
}

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
  if (issues.length === 0) issues.push(...missingIssues(object, place));
  const spec = asObject(object.spec) ?? {};
  const ofSpec = inside(place, 'spec');
  issues.push(...fieldIssues(kind, spec, ofSpec));
  if (issues.length > 0) return { issues };
  const unlikely = fieldWarnings(kind, spec, ofSpec);
  return { value: { template: object as unknown as Template, place }, issues, warnings: [...warnings, ...unlikely] };
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
  const name = asString(kind);
  if (name === undefined) return `is missing; use one of ${known.join(', ')}`;
  const mayBeNew = KIND.test(name) && misspelt(name, known) === undefined;
  const isOfFlux = mayBeNew && /\.(?:toolkit|extensions)\.fluxcd\.io$/.test(groupOf(asString(apiVersion) ?? ''));
  if (known.includes(name) || isOfFlux) return undefined;
  const suggestion = nearest(name, known);
  const remedy =
    suggestion === undefined
      ? `use one of ${known.join(', ')}, or put the object into the repository`
      : `did you mean ${suggestion}?`;
  return `${quote(name)} is not a kind of Flux; ${remedy}`;
}

/** What is missing: a name, which templates have by default, or a key, without which Flux would fail in the shoot. */
function missingIssues({ kind, metadata, spec }: JsonObject, place: Place): ConfigIssue[] {
  if (asObject(metadata)?.name === undefined) return [issueAt(place, 'metadata.name', 'is missing; set it')];
  const { url, secretRef } = asObject(spec) ?? {};
  if (kind !== 'GitRepository' || secretRef !== undefined || !isSsh(asString(url) ?? '')) return [];
  const message =
    'is missing, but Flux needs a key to read over SSH; name the Secret that holds identity and known_hosts';
  return [issueAt(place, 'spec.secretRef', message)];
}

/**
 * Returns the objects in the order in which they are applied: sources first, then what reports about the others, and what
 * deploys last, so that its first attempt finds the rest. Objects of one kind stay in the order of the configuration; which
 * of them waits for which is a matter of `dependsOn`.
 */
export function inOrder<T extends { kind: string }>(objects: readonly T[]): T[] {
  const rank = ({ kind }: T) => (fluxKinds[kind] === undefined ? known.length : known.indexOf(kind));
  return objects.toSorted((one, other) => rank(one) - rank(other));
}
