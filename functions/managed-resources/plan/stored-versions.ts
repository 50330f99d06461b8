import { isCurrent, managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import type { ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeObject, ManagedFields } from '../../../shared/kube/resource.ts';
import { entriesAt, fieldsAt, textAt, textListOf } from '../../../shared/shapes.ts';
import type { ControlPlane } from '../read/control-plane.ts';
import { storedVersion } from '../shoot/objects.ts';
import type { Plan } from './plan.ts';
import { newest } from './version.ts';

/**
 * True when CRDs are about to be replaced by those of another release: only then the shoot is asked what it stores.
 * @param liveVersion the release of the CRDs in the shoot, where it was read
 * @param upgradingTo the release of an upgrade that has begun and is not recorded yet
 */
export function mayDropVersions(
  { record, contents }: Pick<Plan, 'record' | 'contents'>,
  { previous, live }: Pick<ControlPlane, 'previous' | 'live'>,
  liveVersion: string | undefined,
  upgradingTo: string | undefined,
): boolean {
  const content = record.managedResources[names.crds];
  if (content === undefined || !contents.has(names.crds)) return false;
  // Taken back, it may have left CRDs in the shoot that the former release cannot replace.
  const isTakenBack = newest(previous?.fluxVersion, record.fluxVersion) !== record.fluxVersion;
  if (upgradingTo !== undefined || isTakenBack) return true;
  const resource = live.get(names.crds);
  if (isCurrent(resource, content)) return rejectsStoredVersions(resource);
  if (previous === undefined || liveVersion !== undefined) return liveVersion !== undefined;
  const isSameRelease = previous.fluxVersion === record.fluxVersion && previous.installed === record.fluxVersion;
  return !isSameRelease || record.components.some((component) => !previous.components.includes(component));
}

/** True when the API server rejects the CRDs because of what it stores. */
export function rejectsStoredVersions(resource: ManagedResource | undefined): boolean {
  const messages = resource?.status?.conditions?.map(({ message }) => message) ?? [];
  return messages.some((message) => message.includes('status.storedVersions'));
}

/** What has to happen to a CRD in the shoot before the API server accepts the one of another release. */
export interface Migration {
  /** The version in which the objects are stored afterwards: the live CRD and that of the release have it. */
  to: string;
  /** True where `to` is not yet the version that is stored. */
  isNarrow: boolean;
  /** False: all objects are stored in a version that stays; only their managed fields may name another one. */
  isStored: boolean;
  /** The versions of the release. */
  kept: string[];
}

/**
 * Compares a CRD in the shoot with that of the release to install. An API server rejects one that lacks a version in which
 * objects may be stored, and later every apply to an object whose managed fields name a version that is gone.
 * @returns undefined when the release drops no version
 */
export function migrationOf(live: KubeObject, next: KubeObject): Migration | undefined {
  const [before, after] = [entriesAt(live.spec, 'versions'), entriesAt(next.spec, 'versions')];
  const kept = after.flatMap((version) => textAt(version, 'name') ?? []);
  if (live.metadata.deletionTimestamp !== undefined) return undefined;
  if (before.every((version) => kept.includes(textAt(version, 'name') ?? ''))) return undefined;
  const current = storedVersion(live);
  const to = current !== undefined && kept.includes(current) ? current : storedVersion(next);
  if (to === undefined) return undefined;
  const stored = textListOf(fieldsAt(live, 'status')?.storedVersions);
  const isNarrow = to !== current;
  const isStored = isNarrow || stored.some((one) => !kept.includes(one));
  return { to, isNarrow, isStored, kept };
}

/**
 * Returns all versions for a narrow CRD: its own, for the running controllers, and the one that is stored from now on.
 * @returns undefined when the CRD is not narrow
 */
export function widenedVersions(live: KubeObject, next: KubeObject): Record<string, unknown>[] | undefined {
  const migration = migrationOf(live, next);
  if (migration?.isNarrow !== true) return undefined;
  const [before, after] = [entriesAt(live.spec, 'versions'), entriesAt(next.spec, 'versions')];
  const isTo = (version: Record<string, unknown>) => version.name === migration.to;
  const added = before.some(isTo) ? [] : after.filter(isTo);
  return [...before, ...added].map((version) => ({
    ...version,
    storage: isTo(version),
    ...(isTo(version) && { served: true }),
  }));
}

/** Returns what a migration needs of a CRD: its schemas may be megabytes, which its administrators choose. */
export function outlineOf({ apiVersion, kind, metadata, spec }: KubeObject): KubeObject {
  const managedFields = metadata.managedFields?.map(({ fieldsV1: _, ...writer }) => writer) ?? [];
  const versions = entriesAt(spec, 'versions').map(({ name, served, storage }) => ({ name, served, storage }));
  const { group, scope, names } = fieldsAt(spec) ?? {};
  return { apiVersion, kind, metadata: { ...metadata, managedFields }, spec: { group, scope, names, versions } };
}

/**
 * Returns the managed fields with another version in place of dropped ones; undefined: none is. Entries of one writer
 * that become the same are joined, or the API server would keep only one of them.
 */
export function migratedFields(
  fields: readonly ManagedFields[] | undefined,
  { kept, to }: Pick<Migration, 'kept' | 'to'>,
): ManagedFields[] | undefined {
  const isDropped = ({ apiVersion = '' }: ManagedFields) => !kept.includes(apiVersion.split('/').at(-1) ?? '');
  if (fields?.some(isDropped) !== true) return undefined;
  const joined = new Map<string, ManagedFields>();
  for (const entry of fields) {
    const [group] = (entry.apiVersion ?? '').split('/');
    const migrated = isDropped(entry) ? { ...entry, apiVersion: `${group}/${to}` } : entry;
    const { manager, operation, subresource, apiVersion } = migrated;
    const key = JSON.stringify([manager, operation, subresource, operation === 'Apply' ? '' : apiVersion]);
    const known = joined.get(key);
    joined.set(key, known === undefined ? migrated : { ...migrated, fieldsV1: union(known.fieldsV1, entry.fieldsV1) });
  }
  return [...joined.values()];
}

type Tree = Record<string, unknown>;

/** Deeper than the fields of any kind of Flux; an owner of a shoot may nest fields until the stack ends. */
const DEEPEST = 50;

/** Joins two trees of `managedFields`, so that the fields of both have one owner. */
export function union(one: Tree = {}, other: Tree = {}, depth = 0): Tree {
  if (depth > DEEPEST) return one;
  const all = { ...one };
  for (const [field, inner] of Object.entries(other)) {
    const known = all[field];
    all[field] = known === undefined ? inner : union(known as Tree, inner as Tree, depth + 1);
  }
  return all;
}
