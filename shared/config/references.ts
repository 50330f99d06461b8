import type { KubeObject } from '../kube/resource.ts';

/** The kinds that Flux objects refer to and that are copied into the shoot for them. */
export type CopyKind = 'Secret' | 'ConfigMap';

const fields: Record<CopyKind, RegExp> = {
  Secret: /^(secretRef|.+SecretRef)$/,
  ConfigMap: /^(configMapRef|.+ConfigMapRef)$/,
};

/**
 * Returns the names of the Secrets or ConfigMaps that a Flux object refers to in its own namespace: every `secretRef` and
 * `…SecretRef` (or `configMapRef`), and every `{kind: Secret, name}` as in `postBuild.substituteFrom`.
 */
export function referencedNames(object: KubeObject, kind: CopyKind): Set<string> {
  const names = new Set<string>();
  collect(object.spec, kind, names);
  return names;
}

function collect(value: unknown, kind: CopyKind, names: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  if ('kind' in value && value.kind === kind) add(value, names);
  for (const [field, inner] of Object.entries(value)) {
    if (fields[kind].test(field)) add(inner, names);
    collect(inner, kind, names);
  }
}

function add(reference: unknown, names: Set<string>): void {
  if (typeof reference !== 'object' || reference === null || !('name' in reference)) return;
  if (typeof reference.name === 'string') names.add(reference.name);
}
