import { isCrd } from './custom-resources.ts';
import type { Release } from './release.ts';

/** Components that read objects of another one's kinds. Without these kinds, their controllers do not start. */
const readsKindsOf: Readonly<Record<string, readonly string[]>> = {
  'kustomize-controller': ['source-controller'],
  'helm-controller': ['source-controller'],
  'image-automation-controller': ['source-controller', 'image-reflector-controller'],
  'source-watcher': ['source-controller'],
};

/** Returns the names of the CRDs that a component of a release brings. */
export function crdsOf({ files }: Pick<Release, 'files'>, component: string): string[] {
  return (files.get(component) ?? []).filter(isCrd).map(({ metadata }) => metadata.name);
}

/** Returns the names of the CRDs that these components need: their own, and those of the objects that they read. */
export function neededCrds(release: Pick<Release, 'files'>, components: readonly string[]): ReadonlySet<string> {
  const needed = new Set(components.flatMap((component) => [component, ...(readsKindsOf[component] ?? [])]));
  return new Set([...needed].flatMap((component) => crdsOf(release, component)));
}
