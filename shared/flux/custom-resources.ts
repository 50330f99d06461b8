import type { EffectiveConfig } from '../config/effective.ts';
import { type Origins, originOf } from '../config/origins.ts';
import { ConfigError, type ConfigIssue } from '../errors.ts';
import type { KubeObject } from '../kube/resource.ts';
import { type CrdSchema, schemaProblems } from './crd-schema.ts';
import { componentsOf } from './install.ts';
import type { Release } from './release.ts';

interface CrdSpec {
  group: string;
  names: { kind: string };
  versions: { name: string; storage: boolean; schema?: { openAPIV3Schema?: CrdSchema } }[];
}

/** A kind as the CRDs of the installed components have it. */
export interface CustomResource {
  /** The release whose CRD it is. */
  release: string;
  apiVersion: string;
  /** What a `spec` of it may hold; absent: anything. */
  spec: CrdSchema | undefined;
}

/**
 * A Flux kind as the CRDs of the installed components have it, in the version that they store, because that one is
 * served by every release that knows the kind and never deprecated in it.
 * @throws ConfigError when no installed component brings the kind
 */
export function customResourceIn(release: Release, { flux, origins }: EffectiveConfig, kind: string): CustomResource {
  for (const component of flux.components) {
    const spec = crdSpecs(release, component).find(({ names }) => names.kind === kind);
    const stored = spec?.versions.find(({ storage }) => storage);
    if (spec && stored) {
      return {
        release: release.version,
        apiVersion: `${spec.group}/${stored.name}`,
        spec: stored.schema?.openAPIV3Schema?.properties?.spec,
      };
    }
  }
  const bringing = componentsOf(release).find((component) =>
    crdSpecs(release, component).some(({ names }) => names.kind === kind),
  );
  const message = bringing
    ? `the configuration has a ${kind}, which needs the component ${bringing}; add it`
    : `the configuration has a ${kind}, which Flux ${release.version} does not support; use another release`;
  throw new ConfigError([{ ...originOf(origins, bringing ? 'flux.components' : 'flux.version'), message }]);
}

/**
 * What this release's CRD will refuse or drop in a template's `spec`.
 * @param part of the configuration, for example `source`
 */
export function specIssues(
  part: string,
  resource: CustomResource,
  { spec }: KubeObject,
  origins: Origins,
): ConfigIssue[] {
  if (resource.spec === undefined) return [];
  const problems = schemaProblems(resource.spec, spec, [part, 'spec'], resource.release);
  return problems.map(({ path, message }) => ({ ...originOf(origins, path), message }));
}

function crdSpecs(release: Release, component: string): CrdSpec[] {
  return (release.files.get(component) ?? []).filter(isCrd).map(({ spec }) => spec as CrdSpec);
}

/** True for a CustomResourceDefinition. */
export function isCrd({ kind }: KubeObject): boolean {
  return kind === 'CustomResourceDefinition';
}
