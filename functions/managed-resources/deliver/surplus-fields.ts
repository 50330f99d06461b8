import type { KubeObject } from '../../../shared/kube/resource.ts';

/** We alone decide about these; into everything else controllers and API servers write parts as well. */
const parts = ['spec', 'data'] as const;

/**
 * Returns the merge patch that removes the fields that others have set with an update and that were not asked for.
 * Server-side apply leaves these: a key that the resource-manager once wrote into a Secret, the `suspend` of a
 * `flux suspend`, the branch beside a tag. The resource-manager replaces specs and data as a whole. Fields that others
 * apply stay theirs, or we would fight with a repository that adds to the Kustomization which synchronises it.
 * @param live the object as the apply left it
 * @returns undefined when there is nothing to remove
 */
export function surplusFields(live: KubeObject, wanted: KubeObject): Record<string, unknown> | undefined {
  const patch: Patch = Object.create(null);
  for (const { operation, subresource, fieldsV1 } of live.metadata.managedFields ?? []) {
    if (operation !== 'Update' || subresource) continue;
    for (const part of parts) addRemovals(patch, part, fieldsV1?.[`f:${part}`], live[part], wanted[part] ?? {});
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/** Without a prototype: an owner of a shoot may name a field `constructor` or `__proto__`. */
type Patch = Record<string, unknown>;

/** Deeper than any field that we write; an owner of a shoot may nest fields until the stack ends. */
const DEEPEST = 50;

/**
 * Adds to the patch, under the key, those of the managed fields that are in the live value and not in the wanted one. In
 * place: an owner of a shoot may have added ten thousands of keys, and a copy for each of them would take seconds.
 */
function addRemovals(patch: Patch, key: string, fields: unknown, live: unknown, wanted: unknown, depth = 0): void {
  if (depth > DEEPEST || !isObject(fields) || !isObject(live) || !isObject(wanted)) return;
  const known = patch[key];
  const removals: Patch = isObject(known) ? known : Object.create(null);
  for (const field in fields) {
    const name = field.slice('f:'.length);
    if (!field.startsWith('f:') || !Object.hasOwn(live, name)) continue;
    if (Object.hasOwn(wanted, name)) addRemovals(removals, name, fields[field], live[name], wanted[name], depth + 1);
    else removals[name] = null;
  }
  for (const _ in removals) {
    patch[key] = removals;
    return;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
