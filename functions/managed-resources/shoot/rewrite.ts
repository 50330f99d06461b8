import type { KubeClient } from '../../../shared/kube/client.ts';
import { ConflictError, isRefused, KubeError, unlessGone } from '../../../shared/kube/errors.ts';
import type { KubeObject, Resource } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { type Migration, migratedFields } from '../plan/stored-versions.ts';
import { fieldManager } from '../release.ts';
import { everyPage } from './pages.ts';

/** The shoot does not accept an object as it is. */
export class RejectedObject extends Error {
  override name = 'RejectedObject';
  /** Kind and name. */
  readonly object: string;
  /** The version in which it has to be stored. */
  readonly version: string;

  constructor({ kind, version }: Resource, item: KubeObject, cause: KubeError) {
    super(cause.message, { cause });
    this.object = `${kind} ${keyOf(item)}`;
    this.version = version;
  }
}

/** How often an object is read again that changes at the same time. */
const ATTEMPTS = 5;

/** How far the objects of a kind are rewritten: up to `after`, in the order of the API server. */
export interface Rewritten {
  isDone: boolean;
  after: string;
}

/**
 * Writes the objects of a kind again, unchanged, so that the API server stores them in the version of today, and names that
 * version in their managed fields.
 * @param after what an earlier run has reached; objects before it are skipped
 * @throws NotFoundError while the API server does not serve the version yet, RejectedObject
 */
export async function rewriteAll(
  shoot: KubeClient,
  kind: Resource,
  migration: Migration,
  after: string,
  isTimeUp: () => boolean,
): Promise<Rewritten> {
  let reached = after;
  let last = '';
  let isOrdered = true;
  const isDone = await everyPage(shoot, kind, { metadataOnly: true, isTimeUp, mustBeServed: true }, async (items) => {
    for (const item of items) {
      isOrdered &&= last < keyOf(item);
      last = keyOf(item);
    }
    const rest = items.filter((item) => keyOf(item) > after);
    const wanted = rest.filter((item) => migration.isStored || fieldsOf(item, migration) !== undefined);
    const written = await inParallel(wanted, (item) => rewrite(shoot, kind, item, migration), isTimeUp);
    const isComplete = written.length === wanted.length;
    const end = isComplete ? items.at(-1) : wanted[written.length - 1];
    if (end !== undefined && keyOf(end) > reached) reached = keyOf(end);
    return isComplete;
  });
  // Without the order of the keys, nothing is known about those before.
  return { isDone, after: isOrdered ? reached : '' };
}

async function rewrite(shoot: KubeClient, kind: Resource, item: KubeObject, migration: Migration): Promise<void> {
  let live: KubeObject | undefined = item;
  for (let attempt = 1; live !== undefined; attempt += 1) {
    const managedFields = fieldsOf(live, migration);
    const { resourceVersion } = live.metadata;
    const patch = managedFields === undefined ? {} : { metadata: { resourceVersion, managedFields } };
    try {
      await unlessGone(shoot.mergePatch(kind, live.metadata, patch, { fieldManager }));
      return;
    } catch (error) {
      if (error instanceof KubeError && isRefused(error)) throw new RejectedObject(kind, item, error);
      if (!(error instanceof ConflictError) || attempt === ATTEMPTS) throw error;
    }
    live = await shoot.find(kind, item.metadata, { metadataOnly: true });
  }
}

function fieldsOf({ metadata }: KubeObject, migration: Migration) {
  return migratedFields(metadata.managedFields, migration);
}

/** As etcd sorts them. */
function keyOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
