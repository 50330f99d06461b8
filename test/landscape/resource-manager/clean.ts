import type { KubeObject, Resource } from '../../../shared/kube/resource.ts';
import { objectText } from './references.ts';
import { apiMessage, needsForeground, type Target } from './target.ts';
import { annotations, isTrue, type ObjectReference } from './types.ts';

/**
 * Deletes objects, all at once. Reads live and in every namespace.
 * @returns what is still pending as one message, or undefined when all is gone or may stay
 */
export async function clean(target: Target, references: readonly ObjectReference[]): Promise<string | undefined> {
  const results = await Promise.all(references.map((reference) => remove(target, reference)));
  const pending = results.filter((result) => result !== undefined);
  if (pending.length === 0) return undefined;
  const count = pending.length === 1 ? '1 error occurred' : `${pending.length} errors occurred`;
  const list = pending.length === 1 ? pending[0] : `[${pending.join(', ')}]`;
  return `Could not clean all old resources: ${count}: ${list}`;
}

async function remove(target: Target, reference: ObjectReference): Promise<string | undefined> {
  const pending = `deletion of old resource "${objectText(reference)}" is still pending`;
  try {
    const resource = await target.served(reference.apiVersion, reference.kind);
    if (resource === undefined) return undefined;
    const live = await target.client.find(resource, reference);
    if (live === undefined || mayStay(live)) return undefined;
    const options = needsForeground(reference.apiVersion) ? { propagationPolicy: 'Foreground' as const } : {};
    if (!(await target.delete(resource, reference, options))) return undefined;
    await finalizeIfDue(target, resource, live);
    return pending;
  } catch (error) {
    return `${pending}: ${apiMessage(error)}`;
  }
}

/** Read from the live object: what the set says does not count any more (trap 30). */
function mayStay({ kind, metadata }: KubeObject): boolean {
  if (isTrue(metadata.annotations, annotations.keepObject)) return true;
  const collectable = isTrue(metadata.labels, 'resources.gardener.cloud/garbage-collectable-reference');
  return collectable && ['Secret', 'ConfigMap'].includes(kind);
}

async function finalizeIfDue(target: Target, resource: Resource, { metadata }: KubeObject): Promise<void> {
  const after = metadata.annotations?.[annotations.finalizeDeletionAfter];
  if (after === undefined || metadata.deletionTimestamp === undefined) return;
  const due = Date.parse(metadata.deletionTimestamp) + milliseconds(after);
  if (Date.now() < due || !metadata.finalizers?.length) return;
  const fieldManager = 'gardener-resource-manager';
  await target.client.mergePatch(resource, metadata, { metadata: { finalizers: null } }, { fieldManager });
}

/** A Go duration of hours, minutes, seconds and milliseconds. */
function milliseconds(duration: string): number {
  const units: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };
  return [...duration.matchAll(/([\d.]+)(ms|h|m|s)/g)].reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * (units[unit ?? ''] ?? 0),
    0,
  );
}
