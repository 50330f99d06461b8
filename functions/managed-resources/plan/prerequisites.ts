import { applyState, managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import type { ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { entriesAt, textAt } from '../../../shared/shapes.ts';
import { objectRef } from '../objects.ts';
import type { Changes } from './changes.ts';
import type { Plan } from './plan.ts';

/** What sources and Kustomizations need in the shoot: their kinds, and the Secrets and ConfigMaps that they name. */
const NEEDED = [names.crds, names.secrets];

/**
 * Holds the sync objects back until everything that they may need is in the shoot. Written together, a source would first
 * fail without its credentials, and the next attempt of Flux may be minutes away. A rotation holds nothing back, because
 * only names count. A copy that leaves waits the other way round, for the sync objects that no longer name it: Flux
 * notices its deletion at once, and would fail with what still names it.
 * @param seconds since the operation began
 * @param patience in seconds: a group that cannot be applied holds the others back no longer than that, because the edit
 * of a source may suspend it
 * @returns the changes to make now, and the group that waits
 */
export function inOrder(
  changes: Changes,
  { contents }: Pick<Plan, 'contents'>,
  live: ReadonlyMap<string, ManagedResource>,
  seconds: number,
  patience: number,
): Changes & { heldBack?: string } {
  const isLate = seconds > patience;
  const isWritten = (name: string) => changes.write.includes(name) || changes.writeSecret.includes(name);
  const isAwaiting = NEEDED.some((name) => isAwaited(contents.get(name) ?? [], live.get(name), isLate));
  if (isWritten(names.sync) && isAwaiting) return without(names.sync, changes);
  const isChanging =
    isWritten(names.sync) || changes.held.includes(names.sync) || stateOf(live.get(names.sync)) !== 'applied';
  const awaitsSync = contents.has(names.sync) && isChanging && !isLate;
  const loses = hasOthers(live.get(names.secrets), contents.get(names.secrets) ?? []);
  return isWritten(names.secrets) && awaitsSync && loses ? without(names.secrets, changes) : changes;
}

function without(heldBack: string, changes: Changes): Changes & { heldBack: string } {
  const others = (list: string[]) => list.filter((name) => name !== heldBack);
  return { ...changes, write: others(changes.write), writeSecret: others(changes.writeSecret), heldBack };
}

/** Returns whether objects are in the shoot that the new content no longer has. */
function hasOthers(resource: ManagedResource | undefined, objects: KubeObject[]): boolean {
  const kept = new Set(objects.map(objectRef));
  return entriesAt(resource?.status, 'resources').some((entry) => !kept.has(refOf(entry)));
}

/**
 * The resource-manager lists what it has applied, and updates the list only when it could apply everything. A
 * ManagedResource that it is about to delete, or that fails, is given up after some time.
 */
function isAwaited(objects: KubeObject[], resource: ManagedResource | undefined, isLate: boolean): boolean {
  const isStuck = resource?.metadata.deletionTimestamp !== undefined || stateOf(resource) === 'failing';
  if (isLate && isStuck) return false;
  const listed = new Set(entriesAt(resource?.status, 'resources').map(refOf));
  return objects.some((object) => !listed.has(objectRef(object)));
}

function stateOf(resource: ManagedResource | undefined): string {
  return resource === undefined ? 'absent' : applyState(resource).state;
}

/** Returns the ref of an entry of `status.resources`. */
function refOf(entry: Record<string, unknown>): string {
  const [apiVersion = '', kind = '', name = ''] = ['apiVersion', 'kind', 'name'].map((field) => textAt(entry, field));
  const namespace = textAt(entry, 'namespace');
  return objectRef({ apiVersion, kind, metadata: { name, ...(namespace && { namespace }) } });
}
