import type { KubeObject } from '../kube/resource.ts';

/** The kinds that Flux objects refer to and that are copied into the shoot for them. */
export type CopyKind = 'Secret' | 'ConfigMap';

/** The names that an object refers to, by kind. */
export type ReferencedNames = Readonly<Record<CopyKind, ReadonlySet<string>>>;

const kinds: readonly CopyKind[] = ['Secret', 'ConfigMap'];

/**
 * Returns the names of the Secrets and ConfigMaps that a Flux object refers to in its own namespace: every `secretRef` and
 * `…SecretRef` (or `configMapRef`), and every `{kind: Secret, name}` as in `postBuild.substituteFrom`.
 */
export function referencedNames({ spec }: KubeObject): ReferencedNames {
  const names = { Secret: new Set<string>(), ConfigMap: new Set<string>() };
  collect(spec, names);
  return names;
}

function collect(value: unknown, names: Record<CopyKind, Set<string>>): void {
  if (typeof value !== 'object' || value === null) return;
  const named = 'kind' in value ? kinds.find((kind) => kind === value.kind) : undefined;
  if (named !== undefined) add(value, names[named]);
  for (const [field, inner] of Object.entries(value)) {
    const kind = Array.isArray(value) ? undefined : kindOfField(field);
    if (kind !== undefined) add(inner, names[kind]);
    collect(inner, names);
  }
}

function kindOfField(field: string): CopyKind | undefined {
  if (field === 'secretRef' || field.endsWith('SecretRef')) return 'Secret';
  return field === 'configMapRef' || field.endsWith('ConfigMapRef') ? 'ConfigMap' : undefined;
}

function add(reference: unknown, names: Set<string>): void {
  if (typeof reference !== 'object' || reference === null || !('name' in reference)) return;
  if (typeof reference.name === 'string') names.add(reference.name);
}
