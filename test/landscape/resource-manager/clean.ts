import { errorMessage, type Resource } from '../client/client.ts';
import { annotations, isTrue, type ObjectReference, objectText } from './references.ts';
import { needsForeground, type Target } from './target.ts';

/**
 * Deletes objects. It reads all of them first, live and in every namespace, and deletes CRDs after their custom
 * resources.
 * @returns one message about the pending deletions, or undefined when all objects are gone or may stay
 */
export async function clean(target: Target, references: readonly ObjectReference[]): Promise<string | undefined> {
  const removals = await Promise.all(references.map((reference) => find(target, reference)));
  const isCrd = ({ reference }: Removal) => reference.kind === 'CustomResourceDefinition';
  const remove = (removal: Removal) => removeFound(target, removal);
  await Promise.all(removals.filter((removal) => !isCrd(removal)).map(remove));
  await Promise.all(removals.filter(isCrd).map(remove));
  const pending = removals.map(({ pending }) => pending).filter((text) => text !== undefined);
  if (pending.length === 0) return undefined;
  const count = pending.length === 1 ? '1 error occurred' : `${pending.length} errors occurred`;
  const list = pending.length === 1 ? pending[0] : `[${pending.join(', ')}]`;
  return `Could not clean all old resources: ${count}: ${list}`;
}

interface Removal {
  reference: ObjectReference;
  /** Absent when there is nothing to delete. */
  found?: Resource | undefined;
  /** The pending part of the message. */
  pending?: string;
}

const pendingText = (reference: ObjectReference) =>
  `deletion of old resource "${objectText(reference)}" is still pending`;

async function find(target: Target, reference: ObjectReference): Promise<Removal> {
  try {
    const resource = await target.served(reference.apiVersion, reference.kind);
    const live = resource && (await target.client.find(resource, reference));
    // The annotation of the live object counts, no longer that of the desired one (trap 30).
    if (live === undefined || isTrue(live.metadata.annotations, annotations.keepObject)) return { reference };
    return { reference, found: resource };
  } catch (error) {
    return { reference, pending: `${pendingText(reference)}: ${errorMessage(error)}` };
  }
}

async function removeFound(target: Target, removal: Removal): Promise<void> {
  const { reference, found } = removal;
  if (found === undefined) return;
  try {
    const options = needsForeground(reference.apiVersion) ? { propagationPolicy: 'Foreground' as const } : {};
    if (await target.client.delete(found, reference, options)) removal.pending = pendingText(reference);
  } catch (error) {
    removal.pending = `${pendingText(reference)}: ${errorMessage(error)}`;
  }
}
