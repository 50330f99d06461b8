/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | JsonObject;

/** A JSON object. Stored values are never changed in place: every write creates new ones. */
export interface JsonObject {
  [key: string]: Json | undefined;
}

/** Metadata of a stored object. */
export interface Meta extends JsonObject {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  finalizers?: string[];
}

/** An object of the API. */
export interface ApiObject extends JsonObject {
  apiVersion: string;
  kind: string;
  metadata: Meta;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value as an object; an empty one for other values. */
export function asObject(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

export function asArray(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

export function asString(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Compares JSON values; a missing key equals an undefined one. */
export function equal(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, index) => equal(item, other[index]));
  }
  if (Array.isArray(other)) return false;
  for (const key in one) if (!equal(one[key], other[key])) return false;
  for (const key in other) if (other[key] !== undefined && one[key] === undefined) return false;
  return true;
}

/** Returns a copy with a key set, or removed when the value is undefined. */
export function withKey<T extends JsonObject>(object: T, key: string, value: Json | undefined): T {
  if (value !== undefined) return { ...object, [key]: value };
  if (!(key in object)) return object;
  const { [key]: _, ...rest } = object;
  return rest as T;
}
