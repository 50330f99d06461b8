import { type Origins, originOf } from '../config/origins.ts';
import type { EffectiveConfig } from '../config/types.ts';
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

/** A Flux kind as defined by the CRDs of the installed components. */
export interface CustomResource {
  /** The Flux release of the CRD. */
  release: string;
  apiVersion: string;
  /** The schema of `spec`; absent: anything is valid. */
  spec: CrdSchema | undefined;
}

/**
 * Returns a Flux kind in the version that the CRD stores, because every release that has the kind serves its storage
 * version and does not deprecate it.
 * @throws ConfigError when no installed component has a CRD of the kind
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
  const provider = componentsOf(release).find((component) =>
    crdSpecs(release, component).some(({ names }) => names.kind === kind),
  );
  const message = provider
    ? `lacks ${provider}, which the configured ${kind} needs; add ${provider}`
    : `resolves to Flux ${release.version}, which does not support the configured ${kind}; use another release`;
  throw new ConfigError([{ ...originOf(origins, provider ? 'flux.components' : 'flux.version'), message }]);
}

/**
 * Returns the issues that this release's CRD has with the `spec` of an object.
 * @param part the part of the configuration, for example `source`
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

/** Returns true for a CustomResourceDefinition. */
export function isCrd({ kind }: KubeObject): boolean {
  return kind === 'CustomResourceDefinition';
}
