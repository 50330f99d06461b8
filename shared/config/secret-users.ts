import type { KubeObject } from '../kube/resource.ts';

/**
 * The names of the Secrets that an object of Flux refers to in its own namespace: every `secretRef` and `…SecretRef`,
 * and every `{kind: Secret, name}` as in `postBuild.substituteFrom`.
 */
export function secretNames(object: KubeObject): Set<string> {
  const names = new Set<string>();
  collect(object.spec, names);
  return names;
}

function collect(value: unknown, names: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  if ('kind' in value && value.kind === 'Secret') add(value, names);
  for (const [field, inner] of Object.entries(value)) {
    if (/^(secretRef|.+SecretRef)$/.test(field)) add(inner, names);
    collect(inner, names);
  }
}

function add(reference: unknown, names: Set<string>): void {
  if (typeof reference !== 'object' || reference === null || !('name' in reference)) return;
  if (typeof reference.name === 'string') names.add(reference.name);
}
