import { issueOf, type Origins } from '../config/origins.ts';
import { quote } from '../config/quote.ts';
import { dependencyKindProblem, WAITING } from '../config/references.ts';
import { fluxKinds, groupOf } from '../config/templates.ts';
import type { EffectiveConfig } from '../config/types.ts';
import { asString } from '../config/values.ts';
import { ConfigError, type ConfigIssue } from '../errors.ts';
import { type KubeObject, type Resource, resource } from '../kube/resource.ts';
import { entriesAt } from '../shapes.ts';
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
  /** True: a controller writes conditions into the status. */
  hasConditions: boolean;
}

/** Returns where the objects of a Flux kind are served. The plurals of all of them follow one rule. */
export function fluxResource({ apiVersion, kind }: Pick<KubeObject, 'kind' | 'apiVersion'>): Resource {
  const [group = '', version = ''] = apiVersion.split('/');
  return resource(group, version, `${kind.toLowerCase().replace(/y$/, 'ie')}s`, kind);
}

/**
 * Returns a Flux kind in the version that the CRD stores, because every release that has the kind serves its storage
 * version and does not deprecate it.
 * @param part the path of the object in the effective configuration
 * @throws ConfigError when no installed component has a CRD of the kind
 */
export function customResourceIn(
  release: Release,
  { flux, origins }: EffectiveConfig,
  { kind, apiVersion }: Pick<KubeObject, 'kind' | 'apiVersion'>,
  part = '',
): CustomResource {
  const isOfKind = ({ names, group }: CrdSpec) =>
    names.kind === kind && (apiVersion === '' || group === groupOf(apiVersion));
  for (const component of flux.components) {
    const spec = crdSpecs(release, component).find(isOfKind);
    const stored = spec?.versions.find(({ storage }) => storage);
    if (spec && stored) {
      const { spec: ofSpec, status } = stored.schema?.openAPIV3Schema?.properties ?? {};
      // Alerts and Providers have no status: their controller only reads them.
      const hasConditions =
        status?.properties?.conditions !== undefined || status?.['x-kubernetes-preserve-unknown-fields'] === true;
      return { release: release.version, apiVersion: `${spec.group}/${stored.name}`, spec: ofSpec, hasConditions };
    }
  }
  const provider = componentsOf(release).find((component) => crdSpecs(release, component).some(isOfKind));
  throw new ConfigError([missingKind(release, origins, kind, provider, part)]);
}

/** Another component or release has the kind; a kind that no release has is a mistake in the object itself. */
function missingKind(
  release: Release,
  origins: Origins,
  kind: string,
  provider: string | undefined,
  part: string,
): ConfigIssue {
  if (provider !== undefined) {
    // A list of one's own would have to repeat the default components.
    const isDefault = origins['flux.components'] === undefined;
    const remedy = `add ${provider}${isDefault ? ' with componentsExtra' : ''}`;
    return issueOf(origins, 'flux.components', `lacks ${provider}, which the configured ${kind} needs; ${remedy}`);
  }
  if (part.startsWith('objects[') && fluxKinds[kind] === undefined) {
    const message = `${quote(kind)} is not a kind of Flux ${release.version}; remove the object, or use another release`;
    return issueOf(origins, `${part}.kind`, message);
  }
  const message = `resolves to Flux ${release.version}, which does not support the configured ${kind}; use another release`;
  return issueOf(origins, 'flux.version', message);
}

/** Returns whether objects of the kind may have `spec.suspend`. */
export function canBeSuspended({ spec }: CustomResource): boolean {
  const isOpen = spec?.properties === undefined || spec['x-kubernetes-preserve-unknown-fields'] === true;
  return isOpen || Object.hasOwn(spec?.properties ?? {}, 'suspend');
}

/**
 * Returns the issues that this release's CRD has with the `spec` of an object.
 * @param part the part of the configuration, for example `source`
 */
export function specIssues(part: string, kind: CustomResource, object: KubeObject, origins: Origins): ConfigIssue[] {
  if (kind.spec === undefined) return [];
  const problems = schemaProblems(kind.spec, object.spec, [part, 'spec'], kind.release);
  return problems.map(({ path, message }) => issueOf(origins, path, dependencyProblem(object, path) ?? message));
}

/** A CRD without kinds in `dependsOn` would only say that the field is unknown. */
function dependencyProblem({ kind, spec }: KubeObject, path: string): string | undefined {
  const [, index] = /\.spec\.dependsOn\[(\d+)\]\.kind$/.exec(path) ?? [];
  const named = index === undefined ? undefined : asString(entriesAt(spec, 'dependsOn')[Number(index)]?.kind);
  return named === undefined || !WAITING.has(kind) ? undefined : dependencyKindProblem(kind, named);
}

function crdSpecs(release: Release, component: string): CrdSpec[] {
  return (release.files.get(component) ?? []).filter(isCrd).map(({ spec }) => spec as CrdSpec);
}

/** Returns true for a CustomResourceDefinition. */
export function isCrd({ kind }: KubeObject): boolean {
  return kind === 'CustomResourceDefinition';
}
