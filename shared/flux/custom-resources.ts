import type { KubeObject } from '../kube/resource.ts';
import { ConfigError } from '../runtime/errors.ts';
import { componentsOf } from './install.ts';
import { MERGED_CONFIG } from './locate-issues.ts';
import type { Release } from './release.ts';

interface CrdSpec {
  group: string;
  names: { kind: string };
  versions: { name: string; storage: boolean }[];
}

/**
 * The apiVersion of a Flux kind as the CRDs of the installed components have it: the version that they store, because
 * that one is served by every release that knows the kind and never deprecated in it.
 * @throws ConfigError when no installed component brings the kind
 */
export function apiVersionIn(release: Release, components: readonly string[], kind: string): string {
  for (const component of components) {
    const spec = crdSpecs(release, component).find(({ names }) => names.kind === kind);
    const stored = spec?.versions.find(({ storage }) => storage);
    if (spec && stored) return `${spec.group}/${stored.name}`;
  }
  const bringing = componentsOf(release).find((component) =>
    crdSpecs(release, component).some(({ names }) => names.kind === kind),
  );
  const message = bringing
    ? `the configuration has a ${kind}, which needs the component ${bringing}; add it.`
    : `the configuration has a ${kind}, which Flux ${release.version} does not know; choose another release.`;
  throw new ConfigError([{ object: MERGED_CONFIG, path: bringing ? 'flux.components' : 'flux.version', message }]);
}

function crdSpecs(release: Release, component: string): CrdSpec[] {
  return (release.files.get(component) ?? []).filter(isCrd).map(({ spec }) => spec as CrdSpec);
}

/** True for a CustomResourceDefinition. */
export function isCrd({ kind }: KubeObject): boolean {
  return kind === 'CustomResourceDefinition';
}
