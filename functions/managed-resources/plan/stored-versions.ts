import { entriesAt, fieldsAt, textAt, textListOf } from '../../../shared/gardener/shapes.ts';
import type { KubeObject, ManagedFields } from '../../../shared/kube/resource.ts';
import { union } from './managed-fields.ts';

/** What has to happen to a CRD in the shoot before the API server accepts the one of another release. */
export interface Migration {
  crd: KubeObject;
  /** The version in which the objects are stored afterwards: the live CRD and that of the release have it. */
  to: string;
  /** All versions, where `to` is not yet the one that is stored: those of the live CRD, and `to`. */
  widened?: Record<string, unknown>[] | undefined;
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
  const current = storedIn(before);
  const wanted = storedIn(after);
  const to = current !== undefined && kept.includes(current) ? current : wanted;
  if (to === undefined) return undefined;
  const stored = textListOf(fieldsAt(live, 'status')?.storedVersions);
  const widened = to === current ? undefined : widenedVersions(before, after, to);
  const isStored = widened !== undefined || stored.some((one) => !kept.includes(one));
  return { crd: live, to, widened, isStored, kept };
}

function storedIn(versions: Record<string, unknown>[]): string | undefined {
  return textAt(
    versions.find(({ storage }) => storage === true),
    'name',
  );
}

/** The running controllers still need the versions of the live CRD; the objects are stored in the new one from now on. */
function widenedVersions(before: Record<string, unknown>[], after: Record<string, unknown>[], to: string) {
  const isTo = (version: Record<string, unknown>) => version.name === to;
  const added = before.some(isTo) ? [] : after.filter(isTo);
  return [...before, ...added].map((version) => ({
    ...version,
    storage: isTo(version),
    ...(isTo(version) && { served: true }),
  }));
}

/**
 * Returns the managed fields with another version in place of those that the release drops; undefined: none is. Entries of
 * one writer that become the same are joined, or the API server would keep only one of them.
 */
export function migratedFields(
  fields: readonly ManagedFields[] | undefined,
  { kept, to }: Pick<Migration, 'kept' | 'to'>,
): ManagedFields[] | undefined {
  const isDropped = ({ apiVersion = '' }: ManagedFields) => !kept.includes(versionOf(apiVersion));
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

function versionOf(apiVersion: string): string {
  return apiVersion.slice(apiVersion.indexOf('/') + 1);
}
