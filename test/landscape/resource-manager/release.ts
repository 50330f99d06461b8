import { errorMessage } from '../client/client.ts';
import { objectText } from './references.ts';
import type { Target } from './target.ts';
import { annotations, type ObjectReference } from './types.ts';

/**
 * Releases objects that now have `mode: Ignore`: removes our labels and annotations, and leaves the objects.
 * @returns one message about all failures
 */
export async function release(
  target: Target,
  references: readonly ObjectReference[],
  origin: string,
): Promise<string | undefined> {
  const errors: string[] = [];
  for (const reference of references) {
    try {
      await releaseOne(target, reference, origin);
    } catch (error) {
      errors.push(`error patching object "${objectText(reference)}": ${errorMessage(error)}`);
    }
  }
  if (errors.length === 0) return undefined;
  return `Could not release all orphaned resources: ${errors.length} errors occurred: [${errors.join(', ')}]`;
}

async function releaseOne(target: Target, reference: ObjectReference, origin: string): Promise<void> {
  const resource = await target.served(reference.apiVersion, reference.kind);
  const live = resource && (await target.client.find(resource, reference));
  // Another ManagedResource may have taken it over already.
  if (resource === undefined || live?.metadata.annotations?.[annotations.origin] !== origin) return;
  const gone = { [annotations.origin]: null, [annotations.description]: null };
  const fieldManager = 'gardener-resource-manager';
  await target.client.mergePatch(resource, reference, { metadata: { annotations: gone } }, { fieldManager });
}
