import type { ConfigIssue } from '../errors.ts';
import { type Check, labelValue, metadataKey } from './checks.ts';
import { pathText, wrongType } from './issues.ts';
import { MOST_ISSUES_OF_A_PART } from './limits.ts';
import { issueAt, type Place } from './place.ts';
import { quote } from './quote.ts';
import { isReservedForGardener } from './reserved-keys.ts';
import { lengthProblem } from './schema.ts';
import { asObject, type JsonObject } from './values.ts';

type MetadataMap = 'labels' | 'annotations';

const IN_TEMPLATE = ['template', 'metadata'];

/**
 * Returns the issues with the labels and annotations of a template. They are read here and not by the schema, because
 * its result leaves out the key `__proto__`, which the object would still have.
 * @param part where the source or Kustomization is, such as `source`
 * @param path the metadata below it
 */
export function metadataIssues(
  part: Place,
  template: JsonObject,
  path: readonly string[] = IN_TEMPLATE,
): ConfigIssue[] {
  const metadata = asObject(template.metadata) ?? {};
  const maps: MetadataMap[] = ['labels', 'annotations'];
  return maps
    .flatMap((map) => mapIssues(part, [...path, map], map, asObject(metadata[map]) ?? {}))
    .slice(0, MOST_ISSUES_OF_A_PART);
}

function mapIssues(part: Place, path: readonly string[], map: MetadataMap, fields: JsonObject): ConfigIssue[] {
  return Object.entries(fields).flatMap(([key, value]) => {
    const ofKey = keyProblem(map, key);
    if (ofKey !== undefined) return [issueAt(part, pathText(path), ofKey)];
    const ofValue = valueProblem(map, value);
    return ofValue === undefined ? [] : [issueAt(part, pathText([...path, key]), ofValue)];
  });
}

// Kubernetes accepts capitals in the prefix of an annotation's key.
const annotationKey: Check = (name) => metadataKey(name.toLowerCase());

function keyProblem(map: MetadataMap, key: string): string | undefined {
  return (map === 'labels' ? metadataKey(key) : annotationKey(key)) ?? reservedProblem(key);
}

function valueProblem(map: MetadataMap, value: unknown): string | undefined {
  if (typeof value !== 'string') return wrongType('string', value);
  return map === 'labels' ? (lengthProblem(value) ?? labelValue(value)) : undefined;
}

/**
 * The resource-manager obeys keys of `resources.gardener.cloud`: with `ignore` or `mode` on a Kustomization it would not
 * write `suspend: true` before the Kustomization is removed, and Flux would prune the user's workloads. Others change
 * what Gardener deletes with a Shoot. Flux's own keys stay allowed: kustomize-controller reads them only from objects
 * that it applies or prunes itself, and these templates are neither.
 */
function reservedProblem(key: string): string | undefined {
  return isReservedForGardener(key)
    ? `has the key ${quote(key)}, which is reserved for Gardener; remove it`
    : undefined;
}
