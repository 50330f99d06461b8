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
  const updates = (live.metadata.managedFields ?? []).filter(
    ({ operation, subresource }) => operation === 'Update' && !subresource,
  );
  const removals = updates.flatMap(({ fieldsV1 }) =>
    parts.map((part) => removalOf(part, fieldsV1?.[`f:${part}`], live[part], wanted[part] ?? {})),
  );
  const patch = removals.reduce(merge, {});
  return Object.keys(patch).length === 0 ? undefined : patch;
}

type Patch = Record<string, unknown>;

/** Deeper than any field that we write; an owner of a shoot may nest fields until the stack ends. */
const DEEPEST = 50;

/** Under the key: those of the managed fields that are in the live value and not in the wanted one. */
function removalOf(key: string, fields: unknown, live: unknown, wanted: unknown, depth = 0): Patch {
  if (depth > DEEPEST || !isObject(fields) || !isObject(live) || !isObject(wanted)) return {};
  const removals = Object.entries(fields).map(([field, deeper]): Patch => {
    const name = field.slice('f:'.length);
    if (!field.startsWith('f:') || !(name in live)) return {};
    return name in wanted ? removalOf(name, deeper, live[name], wanted[name], depth + 1) : { [name]: null };
  });
  const inner = removals.reduce(merge, {});
  return Object.keys(inner).length === 0 ? {} : { [key]: inner };
}

function merge(one: Patch, other: Patch): Patch {
  const merged = { ...one };
  for (const [key, value] of Object.entries(other)) {
    const known = merged[key];
    merged[key] = isObject(known) && isObject(value) ? merge(known, value) : value;
  }
  return merged;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
