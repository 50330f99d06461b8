import type { Condition } from './gardener/types.ts';
import type { KubeObject, ManagedFields, ObjectMeta } from './kube/resource.ts';
import { isTextMap } from './kube/valid-object.ts';

/**
 * Reads objects whose owner may write anything into them, in the shape that the code expects: a field of another type is
 * read as absent. Well-formed parts are returned as they are, without a copy.
 */

type Fields = Record<string, unknown>;

/** Returns the value if it is an object, else undefined. */
export function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
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
  return Array.isArray(found) ? found.filter((entry) => fieldsOf(entry) !== undefined) : [];
}

function at(value: unknown, path: string[]): unknown {
  return path.reduce<unknown>((inner, name) => {
    const fields = fieldsOf(inner);
    return fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;
  }, value);
}

/**
 * Returns the object with metadata, `spec`, `status` and conditions in their usual shape.
 * @throws TypeError when it is no object at all, or has no name
 */
export function shapedObject<T extends KubeObject>(object: T): T {
  const fields = fieldsOf(object);
  const name = textAt(fields, 'metadata', 'name');
  if (fields === undefined || name === undefined || name === '') throw new TypeError('an answer holds no object');
  const metadata = shapedMetadata(fieldsOf(fields.metadata) ?? {}, name);
  const { spec, status } = fields;
  const shapedStatus = shapedStatusOf(status);
  const isSame = metadata === fields.metadata && (spec === undefined || fieldsOf(spec)) && status === shapedStatus;
  return isSame ? object : ({ ...object, metadata, spec: fieldsOf(spec), status: shapedStatus } as T);
}

function shapedStatusOf(value: unknown): Fields | undefined {
  const status = fieldsOf(value);
  if (status?.conditions === undefined) return status;
  const conditions = shapedConditions(status.conditions);
  return conditions === status.conditions ? status : { ...status, conditions };
}

/** No object has so many; completing tens of thousands takes megabytes and milliseconds. */
const MOST_CONDITIONS = 1000;

/** Returns the conditions that are ones, with a text for each missing one. */
export function shapedConditions(value: unknown): Condition[] {
  if (!Array.isArray(value)) return [];
  const conditions = value.length > MOST_CONDITIONS ? value.slice(0, MOST_CONDITIONS) : value;
  return conditions.every(isCondition) ? conditions : conditions.flatMap(shapedCondition);
}

const conditionTexts = ['reason', 'message', 'lastTransitionTime', 'lastUpdateTime'] as const;

function isCondition(value: unknown): value is Condition {
  const { type, status, reason, message, lastTransitionTime, lastUpdateTime, codes } = fieldsOf(value) ?? {};
  return (
    typeof type === 'string' &&
    typeof status === 'string' &&
    typeof reason === 'string' &&
    typeof message === 'string' &&
    typeof lastTransitionTime === 'string' &&
    // Conditions of Kubernetes and Flux have none.
    (lastUpdateTime === undefined || typeof lastUpdateTime === 'string') &&
    (codes === undefined || (Array.isArray(codes) && codes.every((code) => typeof code === 'string')))
  );
}

function shapedCondition(value: unknown): Condition[] {
  if (isCondition(value)) return [value];
  const fields = fieldsOf(value);
  if (typeof fields?.type !== 'string' || typeof fields.status !== 'string') return [];
  const texts = Object.fromEntries(conditionTexts.map((name) => [name, textAt(fields, name) ?? '']));
  const { codes: _, ...rest } = fields;
  const codes = Array.isArray(fields.codes) ? fields.codes.filter((code) => typeof code === 'string') : [];
  return [{ ...rest, ...texts, ...(codes.length > 0 && { codes }) } as unknown as Condition];
}

const metaTexts = ['namespace', 'uid', 'resourceVersion', 'creationTimestamp'] as const;

function shapedMetadata(value: Fields, name: string): ObjectMeta {
  if (isMetadata(value)) return value as unknown as ObjectMeta;
  const texts = metaTexts.flatMap((field) => {
    const text = textAt(value, field);
    return text === undefined ? [] : [[field, text]];
  });
  const numbers = ['generation', 'deletionGracePeriodSeconds'].filter((field) => typeof value[field] === 'number');
  const { deletionTimestamp, ownerReferences } = value;
  const isDeleting = deletionTimestamp !== undefined && deletionTimestamp !== null;
  return {
    name,
    ...Object.fromEntries(texts),
    ...Object.fromEntries(numbers.map((field) => [field, value[field]])),
    // An odd time is still a deletion: nothing is written to such an object.
    ...(isDeleting && { deletionTimestamp: typeof deletionTimestamp === 'string' ? deletionTimestamp : '' }),
    ...(ownerReferences !== undefined && { ownerReferences }),
    ...(value.labels !== undefined && { labels: textsOf(value.labels) }),
    ...(value.annotations !== undefined && { annotations: textsOf(value.annotations) }),
    ...(value.finalizers !== undefined && { finalizers: textListOf(value.finalizers) }),
    ...(value.managedFields !== undefined && { managedFields: managedFieldsOf(value.managedFields) }),
  };
}

function isMetadata(value: Fields): boolean {
  const { generation, deletionTimestamp, deletionGracePeriodSeconds, labels, annotations, finalizers } = value;
  return (
    metaTexts.every((field) => value[field] === undefined || typeof value[field] === 'string') &&
    (generation === undefined || typeof generation === 'number') &&
    (deletionTimestamp === undefined || typeof deletionTimestamp === 'string') &&
    (deletionGracePeriodSeconds === undefined || typeof deletionGracePeriodSeconds === 'number') &&
    (labels === undefined || isTextMap(labels)) &&
    (annotations === undefined || isTextMap(annotations)) &&
    (finalizers === undefined || isTextList(finalizers)) &&
    (value.managedFields === undefined || areManagedFields(value.managedFields))
  );
}

/** Returns the fields of an object that are texts. */
export function textsOf(value: unknown): Record<string, string> {
  const texts = Object.entries(fieldsOf(value) ?? {}).filter(([, text]) => typeof text === 'string');
  return Object.fromEntries(texts) as Record<string, string>;
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}

/** Returns the entries of a list that are texts. */
export function textListOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];
}

function areManagedFields(value: unknown): boolean {
  return Array.isArray(value) && value.every(isManagedFields);
}

function isManagedFields(value: unknown): boolean {
  const fields = fieldsOf(value);
  if (fields === undefined) return false;
  const areTexts = ['manager', 'operation', 'subresource', 'apiVersion', 'time'].every(
    (name) => fields[name] === undefined || typeof fields[name] === 'string',
  );
  return areTexts && (fields.fieldsV1 === undefined || fieldsOf(fields.fieldsV1) !== undefined);
}

function managedFieldsOf(value: unknown): ManagedFields[] {
  return Array.isArray(value) ? value.filter(isManagedFields) : [];
}
