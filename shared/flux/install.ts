import { MOST_ISSUES_OF_A_PART } from '../config/limits.ts';
import { type Origins, originOf } from '../config/origins.ts';
import type { FluxInstall } from '../config/types.ts';
import { ConfigError } from '../errors.ts';
import type { KubeObject } from '../kube/resource.ts';
import { installedDeployment } from './deployment.ts';
import type { ImageDigests, Release } from './release.ts';
import { rolesFor } from './roles.ts';

/** Files of a release that are not components. */
const sharedFiles = ['policies', 'rbac'];

/** Cluster-scoped kinds in a release; all other objects get the namespace. */
const clusterScoped = new Set(['Namespace', 'CustomResourceDefinition', 'ClusterRole', 'ClusterRoleBinding']);

/**
 * Returns exactly the objects that `flux install` of that release produces for the same options, in the same order:
 * Namespace, policies, RBAC, then the components. The release's own objects are not modified.
 * @param origins where the user sets the components
 * @throws ConfigError when the release lacks a component
 */
export function installObjects(release: Release, install: FluxInstall, origins: Origins = {}): KubeObject[] {
  checkComponents(release, install.components, origins);
  const digests = digestsOf(release, install, origins);
  const file = (name: string) => release.files.get(name) ?? [];
  const objects = [
    namespaceOf(install.namespace),
    ...(install.networkPolicy ? file('policies') : []),
    ...rolesFor(file('rbac'), install.namespace),
    ...install.components.flatMap((component) => file(component)),
  ];
  const labels = {
    'app.kubernetes.io/instance': install.namespace,
    'app.kubernetes.io/version': release.version,
    'app.kubernetes.io/part-of': 'flux',
  };
  return objects.map((object) => {
    const placed = inNamespace(object, install.namespace, labels);
    return object.kind === 'Deployment' ? installedDeployment(placed, install, labels, digests) : placed;
  });
}

/** Returns the digests by which images are named. @throws ConfigError when one is required and unknown */
function digestsOf(
  { imageDigests = {}, version }: Release,
  { imageDigests: mode, components }: FluxInstall,
  origins: Origins,
): ImageDigests {
  if (mode === 'Never') return {};
  const unknown = components.filter((component) => imageDigests[component] === undefined);
  if (mode !== 'Always' || unknown.length === 0) return imageDigests;
  const message = `"Always" requires a digest for each image, but Flux ${version} in the distribution has none for ${unknown.join(', ')}; use Auto, or ask the operators of this landscape to add them with "distribution make --digests"`;
  throw new ConfigError([{ ...originOf(origins, 'flux.imageDigests'), message }]);
}

/** Returns the names of a release's components, sorted. */
export function componentsOf(release: Release): string[] {
  return [...release.files.keys()].filter((name) => !sharedFiles.includes(name)).sort();
}

function checkComponents(release: Release, components: readonly string[], origins: Origins): void {
  const available = componentsOf(release);
  const missing = components.filter((component) => !available.includes(component));
  if (missing.length === 0) return;
  const message = (name: string) =>
    `"${name}" is not a component of Flux ${release.version} (its components are ${available.join(', ')}); remove it or use another release`;
  throw new ConfigError(
    missing
      .slice(0, MOST_ISSUES_OF_A_PART)
      .map((name) => ({ ...originOf(origins, `flux.components[${name}]`), message: message(name) })),
  );
}

function namespaceOf(name: string): KubeObject {
  const labels = {
    'pod-security.kubernetes.io/warn': 'restricted',
    'pod-security.kubernetes.io/warn-version': 'latest',
  };
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
}

function inNamespace(object: KubeObject, namespace: string, labels: Record<string, string>): KubeObject {
  const scope = clusterScoped.has(object.kind) ? {} : { namespace };
  return { ...object, metadata: { ...object.metadata, ...scope, labels: { ...object.metadata.labels, ...labels } } };
}
