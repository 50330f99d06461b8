import * as z from 'zod/mini';
import type { Condition } from './gardener/types.ts';
import { apiVersionOf, type KubeObject, type Resource } from './kube/resource.ts';

/**
 * The shape of foreign objects, whose owners may write anything into them. The Kubernetes client checks each object once,
 * where it arrives: one with odd metadata is refused; a `spec`, `status` or condition of another type is read as absent.
 */

type Fields = Record<string, unknown>;

/** Returns whether a value is an object, and neither null nor a list. */
export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value if it is an object, else undefined. */
export function fieldsOf(value: unknown): Fields | undefined {
  return isRecord(value) ? value : undefined;
}

/** Returns the value of a text in JSON; undefined for any other text. The error is dropped, because it quotes the text. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the text at a path of fields; undefined where there is none. */
export function textAt(value: unknown, ...path: string[]): string | undefined {
  const found = at(value, path);
  return typeof found === 'string' ? found : undefined;
}

/** Returns the object at a path of fields; undefined where there is none. */
export function fieldsAt(value: unknown, ...path: string[]): Fields | undefined {
  return fieldsOf(at(value, path));
}

/** Returns the entries of the list at a path that are objects; none where there is no list. */
export function entriesAt(value: unknown, ...path: string[]): Fields[] {
  const found = at(value, path);
  return Array.isArray(found) ? found.filter(isRecord) : [];
}

/** Returns the entries of a list that are texts. */
export function textListOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];
}

function at(value: unknown, path: string[]): unknown {
  return path.reduce<unknown>((inner, name) => {
    const fields = fieldsOf(inner);
    return fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;
  }, value);
}

const text = z.optional(z.string());
const number = z.optional(z.number());
/** `z.record` would copy: with tens of thousands of labels it takes several times as long. */
const texts = z.custom<Record<string, string>>((value) => {
  if (!isRecord(value)) return false;
  for (const key in value) if (typeof value[key] !== 'string') return false;
  return true;
});
const managedFields = z.looseObject({
  ...{ manager: text, operation: text, subresource: text, apiVersion: text, time: text },
  fieldsV1: z.optional(z.custom<Fields>(isRecord)),
});

const metadataSchema = z.looseObject({
  ...{ name: text, generateName: text, namespace: text, uid: text, resourceVersion: text },
  ...{ creationTimestamp: text, deletionTimestamp: text, generation: number, deletionGracePeriodSeconds: number },
  labels: z.optional(texts),
  annotations: z.optional(texts),
  finalizers: z.optional(z.array(z.string())),
  managedFields: z.optional(z.array(managedFields)),
});

/** Values of Secrets are decoded: an object with the length of a list would become as many bytes. */
const dataSchema = z.nullish(texts);

/**
 * Checks an object from an answer, and sets `apiVersion` and `kind`: lists of built-in resources lack them, metadata-only
 * objects have another kind.
 * @returns undefined when it is no object of Kubernetes; `metadata.name` may be absent, as in the bookmarks of a watch
 */
export function foreignObject<T extends KubeObject>(resource: Resource, value: unknown): T | undefined {
  if (!isRecord(value)) return undefined;
  const metadata = value.metadata ?? {};
  if (!isRecord(metadata)) return undefined;
  // API servers write null for some absent fields.
  for (const field in metadata) if (metadata[field] === null) delete metadata[field];
  if (!metadataSchema.safeParse(metadata).success) return undefined;
  const isSecret = resource.group === '' && resource.kind === 'Secret';
  if (isSecret && !dataSchema.safeParse(value.data).success) return undefined;
  return withShapedParts(
    Object.assign(value, { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata }),
  ) as T;
}

/**
 * Returns an object of any kind in its usual shape.
 * @throws TypeError when it is no object at all, or has no valid metadata with a name
 */
export function shapedObject<T extends KubeObject>(object: T): T {
  const metadata = fieldsAt(object, 'metadata');
  if (!metadata?.name || !metadataSchema.safeParse(metadata).success) throw new TypeError('this is no object');
  return withShapedParts(object) as T;
}

/** Well-formed parts stay as they are, without a copy. */
function withShapedParts(object: Fields): Fields {
  const { spec, status } = object;
  const shapedStatus = shapedStatusOf(status);
  const isSame = (spec === undefined || isRecord(spec)) && status === shapedStatus;
  return isSame ? object : { ...object, spec: fieldsOf(spec), status: shapedStatus };
}

function shapedStatusOf(value: unknown): Fields | undefined {
  const status = fieldsOf(value);
  if (status?.conditions === undefined) return status;
  const conditions = shapedConditions(status.conditions);
  return conditions === status.conditions ? status : { ...status, conditions };
}

/** No object has so many; completing tens of thousands takes megabytes and milliseconds. */
const MOST_CONDITIONS = 1000;

const codes = z.optional(z.array(z.string()));
const conditionSchema = z.looseObject({
  ...{ type: z.string(), status: z.string(), reason: z.string(), message: z.string() },
  // Conditions of Kubernetes and Flux have neither the second time nor codes.
  ...{ lastTransitionTime: z.string(), lastUpdateTime: text, codes },
});

const orEmpty = z.catch(z.string(), '');
const oddCondition = z.looseObject({
  ...{ type: z.string(), status: z.string(), reason: orEmpty, message: orEmpty },
  ...{ lastTransitionTime: orEmpty, lastUpdateTime: orEmpty, codes: z.catch(codes, undefined) },
});

/** Returns the conditions that are ones, with a text for each missing one. */
export function shapedConditions(value: unknown): Condition[] {
  if (!Array.isArray(value)) return [];
  const conditions = value.length > MOST_CONDITIONS ? value.slice(0, MOST_CONDITIONS) : value;
  const shaped = conditions.map((condition) =>
    conditionSchema.safeParse(condition).success ? condition : oddCondition.safeParse(condition).data,
  );
  const areSame = shaped.every((condition, index) => condition === value[index]);
  return areSame ? conditions : shaped.filter((condition) => condition !== undefined);
}
