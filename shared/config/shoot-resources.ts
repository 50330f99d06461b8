import type { ConfigInputs } from './effective.ts';
import { quote } from './quote.ts';

/** What is wrong with a reference to an entry of the Shoot's `spec.resources`, which must be a Secret. */
export function resourceProblem(name: string, resources: ConfigInputs['shootResources']): string | undefined {
  if (resources === undefined) return undefined;
  const entry = resources.find((resource) => resource.name === name);
  if (entry === undefined) {
    const known = resources.length === 0 ? 'it has no entries' : `it has ${resources.map((r) => r.name).join(', ')}`;
    return `${quote(name)} is not the name of an entry in the Shoot's spec.resources (${known}); add the entry or write the name of another`;
  }
  return entry.kind === 'Secret'
    ? undefined
    : `${quote(name)} is ${article(entry.kind)} in the Shoot's spec.resources, not a Secret; write the name of a Secret's entry`;
}

function article(kind: string): string {
  return kind === '' ? 'of no kind' : `a ${kind}`;
}
