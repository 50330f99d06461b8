import { apiVersionOf, type Definition } from './definition.ts';
import type { ApiObject, JsonObject } from './json.ts';

/** How objects are returned: whole, or metadata only. */
export type Form = 'object' | 'metadata';

/** Returns the form for an Accept header; other forms (tables) yield whole objects. */
export function formOf(accept: string): Form {
  return /as=PartialObjectMetadata(List)?\b/.test(accept) ? 'metadata' : 'object';
}

/** Returns an object in the version and form of the request. */
export function render(definition: Definition, object: ApiObject, form: Form): ApiObject {
  if (form === 'metadata') {
    return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata };
  }
  const apiVersion = apiVersionOf(definition);
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}

/** Returns a list; items of built-in types do not repeat the kind. */
export function renderList(definition: Definition, items: ApiObject[], metadata: JsonObject, form: Form): JsonObject {
  if (form === 'metadata') {
    return {
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata,
      items: items.map((item) => render(definition, item, form)),
    };
  }
  const show = (item: ApiObject): JsonObject => {
    if (definition.custom) return render(definition, item, form);
    const { apiVersion: _, kind: __, ...rest } = item;
    return rest;
  };
  // Lists of custom resources always say whether more pages follow.
  const shown = definition.custom ? { continue: '', ...metadata } : metadata;
  return { kind: definition.listKind, apiVersion: apiVersionOf(definition), metadata: shown, items: items.map(show) };
}
