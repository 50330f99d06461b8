import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json, JsonObject } from './json.ts';

/** The part of OpenAPI v3 that CRDs and the descriptions of built-in types use. References are resolved. */
export interface Schema {
  type?: string;
  format?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  required?: string[];
  enum?: Json[];
  nullable?: boolean;
  default?: Json;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: string;
}

interface Loaded {
  kinds: Record<string, string>;
  schemas: Record<string, Schema>;
}

let loaded: Loaded | undefined;

function load(): Loaded {
  const lines = readFileSync(join(import.meta.dirname, 'built-in-schemas.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');
  const [first = '{}', ...rest] = lines;
  const schemas: Record<string, Schema> = Object.fromEntries(rest.map((line) => JSON.parse(line)));
  for (const schema of Object.values(schemas)) resolve(schema, schemas);
  // An object without declared fields may have any fields.
  for (const schema of Object.values(schemas)) {
    if (schema.properties === undefined && schema.additionalProperties === undefined) {
      schema['x-kubernetes-preserve-unknown-fields'] = true;
    }
  }
  return { kinds: JSON.parse(first), schemas };
}

/** Replaces references by their targets; recursive types become cycles in memory. */
function resolve(schema: Schema, schemas: Record<string, Schema>): void {
  const target = (child: Schema): Schema => {
    const { $ref, ...beside } = child as Schema & { $ref?: string };
    if ($ref === undefined) {
      resolve(child, schemas);
      return child;
    }
    const found = schemas[$ref];
    if (found === undefined) throw new Error(`Schema ${$ref} is missing from built-in-schemas.jsonl`);
    return Object.keys(beside).length === 0 ? found : { ...found, ...beside };
  };
  const { properties, items, additionalProperties } = schema;
  for (const [key, child] of Object.entries(properties ?? {})) if (properties) properties[key] = target(child);
  if (items) schema.items = target(items);
  if (typeof additionalProperties === 'object') schema.additionalProperties = target(additionalProperties);
}

/** Returns the schema of a built-in kind. */
export function builtInSchema(group: string, version: string, kind: string): Schema {
  loaded ??= load();
  const schema = loaded.schemas[loaded.kinds[`${group}/${version}/${kind}`] ?? ''];
  if (schema === undefined) throw new Error(`No schema for ${group}/${version} ${kind}`);
  return schema;
}

function builtInType(name: string): Schema {
  loaded ??= load();
  return loaded.schemas[name] ?? {};
}

/** Returns the schema of a custom resource: that of the CRD with the fields that every object has. */
export function customSchema(declared: JsonObject | undefined): Schema {
  const schema = (declared ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }) as unknown as Schema;
  return {
    ...schema,
    properties: {
      ...schema.properties,
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: builtInType('apimachinery.pkg.apis.meta.v1.ObjectMeta'),
    },
  };
}

/** Returns the schema of a field of an object; undefined for unknown fields. */
export function childSchema(schema: Schema | undefined, key: string): Schema | undefined {
  const named = schema?.properties?.[key];
  if (named !== undefined) return named;
  return typeof schema?.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}
