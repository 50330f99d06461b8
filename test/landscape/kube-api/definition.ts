import type { Schema } from './schema.ts';
import type { ResourceStore } from './store.ts';

/** A resource as one API version serves it. */
export interface Definition {
  group: string;
  version: string;
  plural: string;
  singular: string;
  kind: string;
  listKind: string;
  shortNames: readonly string[];
  namespaced: boolean;
  /** Has the status subresource. */
  status: boolean;
  generation: boolean;
  /** From a CRD. */
  custom: boolean;
  /** The apiVersion that objects are stored in. */
  storedAs: string;
  /** The CRD is being deleted: no object can be created. */
  terminating: boolean;
  schema: Schema;
  /** Shared by all versions. */
  store: ResourceStore;
}

export function apiVersionOf({ group, version }: { group: string; version: string }): string {
  return group === '' ? version : `${group}/${version}`;
}

/** Returns the key of an object in its store. */
export function keyOf(definition: Definition, namespace: string, name: string): string {
  return definition.namespaced ? `${namespace}/${name}` : name;
}
