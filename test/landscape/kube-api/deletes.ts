import { type Answer, type Call, keyOf } from './call.ts';
import { cleanupFinalizer, terminatingStatus } from './crd.ts';
import { conflict, forbidden, notFound } from './errors.ts';
import { type ApiObject, asArray, asObject, asString, isObject, type JsonObject } from './json.ts';
import { now } from './time.ts';

const immortal = new Set(['default', 'kube-system', 'kube-public']);

/** Handles DELETE of one object. */
export function remove(call: Call): Answer {
  const { definition, name } = call;
  if (!definition.custom && definition.plural === 'namespaces' && immortal.has(name)) {
    throw forbidden(definition, name, 'this namespace may not be deleted');
  }
  const key = keyOf(definition, call.namespace, name);
  const live = definition.store.get(key);
  if (live === undefined) throw notFound(definition, name);
  const options = asObject(call.body);
  checkPreconditions(call, live, asObject(options.preconditions));
  const { object, gone } = deleteObject(call, live, options);
  if (!gone) return { code: 200, body: object };
  return {
    code: 200,
    body: {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name, kind: definition.plural, uid: asString(live.metadata.uid) },
    },
  };
}

function checkPreconditions(call: Call, live: ApiObject, preconditions: JsonObject): void {
  const { uid, resourceVersion } = preconditions;
  const { kind, group } = call.definition;
  for (const [what, wanted, actual] of [
    ['UID', uid, live.metadata.uid],
    ['ResourceVersion', resourceVersion, live.metadata.resourceVersion],
  ]) {
    if (typeof wanted !== 'string' || wanted === actual) continue;
    const why = `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${actual}).`;
    throw conflict({ kind, group, plural: kind }, call.name, why);
  }
}

/** Foreground deletion waits for a garbage collector, which removes its finalizer. */
function wantedFinalizers(live: ApiObject, { propagationPolicy }: JsonObject): string[] {
  const finalizers = live.metadata.finalizers ?? [];
  const isAdded = propagationPolicy === 'Foreground' && !finalizers.includes('foregroundDeletion');
  return isAdded ? [...finalizers, 'foregroundDeletion'] : finalizers;
}

function deleteObject(call: Call, live: ApiObject, options: JsonObject): { object: ApiObject; gone: boolean } {
  const { definition } = call;
  const key = keyOf(definition, call.namespace, call.name);
  const isNamespace = !definition.custom && definition.plural === 'namespaces';
  const isCrd = !definition.custom && definition.plural === 'customresourcedefinitions';
  let finalizers = wantedFinalizers(live, options);
  if (isCrd && !finalizers.includes(cleanupFinalizer)) finalizers = [...finalizers, cleanupFinalizer];
  const heldBySpec = isNamespace && isObject(live.spec) && asArray(live.spec.finalizers).length > 0;
  if (finalizers.length === 0 && !heldBySpec) {
    return { object: definition.store.remove(key) ?? live, gone: true };
  }
  const { metadata } = live;
  if (metadata.deletionTimestamp !== undefined && finalizers.length === (metadata.finalizers ?? []).length) {
    return { object: live, gone: false };
  }
  const bumps = definition.generation && !isCrd && metadata.deletionTimestamp === undefined;
  const generation = bumps ? { generation: (metadata.generation ?? 1) + 1 } : {};
  const object: ApiObject = {
    ...live,
    metadata: {
      ...metadata,
      ...generation,
      ...(finalizers.length > 0 && { finalizers }),
      deletionTimestamp: metadata.deletionTimestamp ?? now(),
      ...(!isNamespace && !isCrd && { deletionGracePeriodSeconds: 0 }),
    },
  };
  if (isCrd) {
    const text = 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon';
    object.status = terminatingStatus(live, 'InstanceDeletionPending', text);
  }
  const marked = isNamespace ? { ...object, status: { ...asObject(object.status), phase: 'Terminating' } } : object;
  return { object: definition.store.put(key, marked), gone: false };
}
