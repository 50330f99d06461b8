import type { Answer, Call } from './call.ts';
import { find, replace, store } from './commit.ts';
import { checkDeletionTime, checkIdentity, checkNamespace, checkUid, decode } from './decode.ts';
import { apiVersionOf } from './definition.ts';
import { ApiError, badRequest, fieldError, invalid, notFound } from './errors.ts';
import { isObject } from './json.ts';
import { mergePatch } from './merge-patch.ts';
import type { Registry } from './registry.ts';
import { apply } from './server-side-apply.ts';

/** Handles POST. */
export function create(registry: Registry, call: Call): Answer {
  const object = decode(call, call.body);
  checkNamespace(call, object);
  return { code: 201, body: store(registry, call, object, undefined) };
}

/** Handles PUT. */
export function update(call: Call): Answer {
  const object = decode(call, call.body);
  checkIdentity(call, object);
  const live = find(call);
  if (live === undefined) throw notFound(call.definition, call.name);
  if (call.definition.custom && object.metadata.resourceVersion === undefined) {
    const { group, plural } = call.definition;
    throw invalid({ group, plural, kind: plural }, call.name, [
      fieldError.invalid('metadata.resourceVersion', 0, 'must be specified for an update'),
    ]);
  }
  return { code: 200, body: replace(call, live, object) };
}

/** Handles PATCH: server-side apply and JSON merge patch, the two that clients of the landscape send. */
export function patch(registry: Registry, call: Call): Answer {
  const { definition } = call;
  if (call.contentType === 'application/apply-patch+yaml') return apply(registry, call);
  if (call.contentType !== 'application/merge-patch+json') {
    throw new ApiError(415, 'UnsupportedMediaType', 'the body of the request was in an unknown format');
  }
  const stored = find(call);
  if (stored === undefined) throw notFound(definition, call.name);
  // A patch refers to the API version of its path.
  const live = { ...stored, apiVersion: apiVersionOf(definition) };
  const patched = mergePatch(live, call.body ?? null);
  if (!isObject(patched) || !isObject(patched.metadata)) throw badRequest('the patch leaves no object');
  // A patch is relative to the live object; only fields that it sets itself can be preconditions.
  const object = decode(call, patched);
  checkIdentity(call, object);
  checkUid(call, live, object);
  checkDeletionTime(call, live, object);
  return { code: 200, body: replace(call, live, object) };
}
