import { type Answer, apiVersionOf, type Call, type Definition, keyOf } from './call.ts';
import { expired, notFound } from './errors.ts';
import type { ApiObject, JsonObject } from './json.ts';
import { everything, fieldMatcher, labelMatcher, type Matcher } from './selectors.ts';

/** GET of one object. */
export function get(call: Call): Answer {
  return { code: 200, body: getObject(call) };
}

export function getObject(call: Call): ApiObject {
  const { definition, name } = call;
  const object = definition.store.get(keyOf(definition, call.namespace, name));
  if (object === undefined) throw notFound(definition, name);
  return object;
}

/** Returns whether an object matches the selectors and the name of the request. */
export function matcherOf(call: Call): Matcher {
  const { definition, query, name } = call;
  const labels = labelMatcher(query.get('labelSelector') ?? '');
  const fields = fieldMatcher(query.get('fieldSelector') ?? '', definition.plural, definition.custom);
  const named: Matcher = name === '' ? everything : (object) => object.metadata.name === name;
  const matchers = [labels, fields, named].filter((matcher) => matcher !== everything);
  return matchers.length === 0 ? everything : (object) => matchers.every((matches) => matches(object));
}

export interface Page {
  items: ApiObject[];
  metadata: JsonObject;
}

interface Continuation {
  rv: number;
  start: string;
}

/** Returns a page of a list, consistent with the first page. */
export function list(call: Call): Page {
  const { definition, query } = call;
  const { store } = definition;
  const matches = matcherOf(call);
  const token = query.get('continue') ?? '';
  const continued = token === '' ? undefined : continuation(token);
  const revision = continued?.rv ?? store.revision;
  if (continued !== undefined && !store.remembers(revision)) {
    throw expired('The provided continue parameter is too old to display a consistent list result.');
  }

  const limit = Number(query.get('limit') ?? 0);
  const prefix = definition.namespaced && call.namespace !== '' ? `${call.namespace}/` : '';
  const items: ApiObject[] = [];
  let last = '';
  let more = false;
  for (const [key, object] of store.range(prefix, continued?.start ?? '', revision)) {
    if (!matches(object)) continue;
    more = limit > 0 && items.length === limit;
    if (more) break;
    items.push(object);
    last = key;
  }
  return {
    items,
    metadata: {
      resourceVersion: String(revision),
      ...(more && { continue: encode({ rv: revision, start: last }) }),
    },
  };
}

const encode = (value: Continuation) => Buffer.from(JSON.stringify(value)).toString('base64url');

const continuation = (token: string): Continuation => JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));

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
