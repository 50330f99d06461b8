import type { Answer, Call } from './call.ts';
import { find, replace, store } from './commit.ts';
import { checkDeletionTime, checkIdentity, checkNamespace, checkUid, decode } from './decode.ts';
import { apiVersionOf } from './definition.ts';
import { ApiError, badRequest, fieldError, invalid, notFound, unsupportedMediaType } from './errors.ts';
import { type ApiObject, isObject, type Json } from './json.ts';
import { JsonPatchError, jsonPatch } from './patch/json-patch.ts';
import { mergePatch } from './patch/merge-patch.ts';
import { strategicMergePatch } from './patch/strategic-merge-patch.ts';
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

/** Handles PATCH of every type. */
export function patch(registry: Registry, call: Call): Answer {
  const { definition } = call;
  if (call.contentType === 'application/apply-patch+yaml') return apply(registry, call);
  const stored = find(call);
  if (stored === undefined) throw notFound(definition, call.name);
  // A patch refers to the API version of its path.
  const live = { ...stored, apiVersion: apiVersionOf(definition) };
  const patched = patchedBody(call, live);
  if (!isObject(patched) || !isObject(patched.metadata)) throw badRequest('the patch leaves no object');
  // A patch is relative to the live object; only fields that it sets itself can be preconditions.
  const object = decode(call, patched);
  checkIdentity(call, object);
  checkUid(call, live, object);
  checkDeletionTime(call, live, object);
  return { code: 200, body: replace(call, live, object) };
}

const patchTypes = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'];

function patchedBody(call: Call, live: ApiObject): Json {
  const body = call.body ?? null;
  const { definition } = call;
  switch (call.contentType) {
    case 'application/merge-patch+json':
      return mergePatch(live, body);
    case 'application/json-patch+json':
      if (!Array.isArray(body)) {
        throw badRequest(
          'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
        );
      }
      try {
        return jsonPatch(live, body);
      } catch (error) {
        if (!(error instanceof JsonPatchError)) throw error;
        throw new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
      }
    case 'application/strategic-merge-patch+json':
      if (!definition.custom) return strategicMergePatch(definition.schema, live, body);
      throw unsupportedMediaType(patchTypes);
    default:
      throw unsupportedMediaType(patchTypes);
  }
}
