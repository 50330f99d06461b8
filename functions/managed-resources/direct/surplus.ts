import type { KubeObject } from '../../../shared/kube/resource.ts';

/** Nobody but us says what is in these; of everything else controllers and API servers write parts of their own. */
const parts = ['spec', 'data'] as const;

/**
 * Pure: what somebody else has set in passing and nobody asks for, as the merge patch that takes it away. Server-side
 * apply leaves it: a key that the resource-manager once wrote into a Secret, the `suspend` of a `flux suspend`, the
 * branch beside a tag. The resource-manager replaces specs and data as a whole. What others apply themselves is theirs,
 * or we would fight with a repository that adds to the Kustomization which it is synchronised by.
 * @param live as the apply left it
 * @returns undefined when there is nothing
 */
export function surplus(live: KubeObject, wanted: KubeObject): Record<string, unknown> | undefined {
  const others = (live.metadata.managedFields ?? []).filter(
    ({ operation, subresource }) => operation === 'Update' && !subresource,
  );
  const patch: Record<string, unknown> = {};
  for (const { fieldsV1 } of others) {
    for (const part of parts) collect(patch, part, fieldsV1?.[`f:${part}`], live[part], wanted[part] ?? {});
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/** Puts into the patch, under the key, what of these fields is there and not wanted. */
function collect(patch: Record<string, unknown>, key: string, fields: unknown, live: unknown, wanted: unknown): void {
  if (!isObject(fields) || !isObject(live) || !isObject(wanted)) return;
  const inner: Record<string, unknown> = isObject(patch[key]) ? patch[key] : {};
  for (const [field, deeper] of Object.entries(fields)) {
    if (!field.startsWith('f:')) continue;
    const name = field.slice('f:'.length);
    if (!(name in live)) continue;
    if (name in wanted) collect(inner, name, deeper, live[name], wanted[name]);
    else inner[name] = null;
  }
  if (Object.keys(inner).length > 0) patch[key] = inner;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
