import { MOST_ISSUES_OF_A_PART } from '../config/limits.ts';
import { issueOf, type Origins } from '../config/origins.ts';
import type { FluxInstall } from '../config/types.ts';
import { ConfigError } from '../errors.ts';
import type { KubeObject } from '../kube/resource.ts';
import { type Container, type ControllerFlags, serviceHost, specOf, withFlags } from './deployment.ts';
import type { ImageDigests, Release } from './release.ts';
import { compareVersions } from './versions.ts';

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
  checkFlags(release, install, origins);
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
  throw new ConfigError([issueOf(origins, 'flux.imageDigests', message)]);
}

/** Returns the names of a release's components, sorted. */
export function componentsOf(release: Release): string[] {
  return [...release.files.keys()].filter((name) => !sharedFiles.includes(name)).sort();
}

function checkComponents(release: Release, components: readonly string[], origins: Origins): void {
  const available = componentsOf(release);
  const missing = components.filter((component) => !available.includes(component));
  if (missing.length === 0) return;
  const issues = missing.slice(0, MOST_ISSUES_OF_A_PART).map((name) => {
    const message = `"${name}" is not a component of Flux ${release.version} (its components are ${available.join(', ')}); remove it or use another release`;
    return issueOf(origins, `flux.components[${name}]`, message);
  });
  throw new ConfigError(issues);
}

/** The first release whose controllers know the flags of these options. Older ones would not start. */
const FIRST_WITH_FLAGS = 'v2.7.0';
const flagOptions = ['objectLevelWorkloadIdentity', 'watchConfigs'] as const;

function checkFlags({ version }: Release, install: FluxInstall, origins: Origins): void {
  if (compareVersions(version, FIRST_WITH_FLAGS) >= 0) return;
  const issues = flagOptions
    .filter((option) => install[option] === true)
    .map((option) => {
      const message = `needs Flux ${FIRST_WITH_FLAGS} or newer, but version resolves to ${version}; use a newer release, or remove it`;
      return issueOf(origins, `flux.${option}`, message);
    });
  if (issues.length > 0) throw new ConfigError(issues);
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

/** The namespace in the files of a release. */
const RELEASE_NAMESPACE = 'flux-system';

/**
 * Returns the objects of `rbac.yaml` for a namespace. Their names end with it, so that two installations do not share
 * them, and bindings refer to the renamed roles.
 */
export function rolesFor(objects: readonly KubeObject[], namespace: string): KubeObject[] {
  const renamed = new Set(objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`));
  return objects.map((object) => {
    const { roleRef, ...rest } = withNamespace(object, namespace) as KubeObject & { roleRef?: RoleRef };
    const named = { ...rest, metadata: { ...rest.metadata, name: `${object.metadata.name}-${namespace}` } };
    if (roleRef === undefined) return named;
    const follows = renamed.has(`${roleRef.kind}/${roleRef.name}`);
    return { ...named, roleRef: follows ? { ...roleRef, name: `${roleRef.name}-${namespace}` } : roleRef };
  });
}

interface RoleRef {
  kind: string;
  name: string;
}

/** Replaces the namespace everywhere, like `flux install`, which thereby changes the subjects of the bindings. */
function withNamespace<T>(value: T, namespace: string): T {
  if (namespace === RELEASE_NAMESPACE) return value;
  return JSON.parse(JSON.stringify(value).replaceAll(RELEASE_NAMESPACE, namespace));
}

const NOTIFICATION_CONTROLLER = 'notification-controller';
const SOURCE_WATCHER = 'source-watcher';

/** Components that serve artifacts and announce the address. */
const artifactServers = ['source-controller', SOURCE_WATCHER];

/** Components that can use the artifacts of source-watcher. */
const artifactConsumers = ['kustomize-controller', 'helm-controller'];

/** Returns a component's Deployment as `flux install` does: pod labels, node selector, pull secret, tolerations, flags. */
function installedDeployment(
  deployment: KubeObject,
  install: FluxInstall,
  labels: Record<string, string>,
  digests: ImageDigests,
): KubeObject {
  const spec = specOf(deployment);
  const { metadata, spec: pod } = spec.template;
  const [first, ...others] = pod.containers.map((container) => ({
    ...container,
    image: imageOf(container, install, digests),
  }));
  const { tolerationKeys } = install;
  // The user's own comes first; the node tries each that is for the registry of the image.
  const pullSecrets = new Set(
    [install.imagePullSecret, install.landscapePullSecret].filter((name) => name !== undefined),
  );
  const template = {
    ...spec.template,
    metadata: { ...metadata, labels: { ...metadata?.labels, ...labels } },
    spec: {
      ...pod,
      containers: first && [{ ...first, args: argsOf(deployment.metadata.name, first.args ?? [], install) }, ...others],
      nodeSelector: { ...pod.nodeSelector, 'kubernetes.io/os': 'linux' },
      ...(pullSecrets.size > 0 && { imagePullSecrets: [...pullSecrets].map((name) => ({ name })) }),
      ...(tolerationKeys.length > 0 && { tolerations: tolerationKeys.map((key) => ({ key, operator: 'Exists' })) }),
    },
  };
  return { ...deployment, spec: { ...spec, template } };
}

/**
 * Adds the registry and the digest: a release calls its images `fluxcd/<component>:<tag>`. The tag stays beside the
 * digest, for people and for tools that read it.
 */
function imageOf({ image }: Container, install: FluxInstall, digests: ImageDigests): string {
  const component = install.components.find((name) => image.startsWith(`fluxcd/${name}:`));
  if (component === undefined) return image;
  const digest = digests[component];
  const tagged = `${install.registry}/${image.slice('fluxcd/'.length)}`;
  return digest === undefined ? tagged : `${tagged}@${digest}`;
}

function argsOf(name: string, args: readonly string[], install: FluxInstall): string[] {
  const { components, clusterDomain } = install;
  // Without a receiver the address must be empty: the default of the release is that of notification-controller.
  const receives = components.includes(NOTIFICATION_CONTROLLER);
  const eventsAddress = receives ? `http://${serviceHost(NOTIFICATION_CONTROLLER, clusterDomain)}/` : '';
  const flags: ControllerFlags = {
    'events-addr': name === NOTIFICATION_CONTROLLER ? undefined : eventsAddress,
    'watch-all-namespaces': String(install.watchAllNamespaces),
    'log-level': install.logLevel,
    'storage-adv-addr': artifactServers.includes(name) ? serviceHost(name, clusterDomain) : undefined,
    ...(install.multiTenancy === true && lockdownOf(name, install)),
    'watch-configs-label-selector':
      install.watchConfigs === true && configReaders.includes(name) ? WITHOUT_HELM_STORAGE : undefined,
  };
  const gates = gatesOf(name, install);
  return [...withFlags(args, flags), ...(gates.length > 0 ? [`--feature-gates=${gates.join(',')}`] : [])];
}

/** Controllers whose objects name Secrets and ConfigMaps that they can watch. */
const configReaders = [...artifactConsumers, NOTIFICATION_CONTROLLER];

/** All Secrets and ConfigMaps but those in which Helm stores its releases, which change with every upgrade. */
const WITHOUT_HELM_STORAGE = 'owner!=helm';

/** Controllers that sign in to clouds. */
const cloudClients = [
  'source-controller',
  ...configReaders,
  'image-reflector-controller',
  'image-automation-controller',
];

/** Of two values of a gate the last one wins, so nobody can take away what an option needs. */
function gatesOf(name: string, install: FluxInstall): string[] {
  const { components, featureGates = {}, objectLevelWorkloadIdentity } = install;
  const hasArtifacts = components.includes(SOURCE_WATCHER) && artifactConsumers.includes(name);
  const signsIn = objectLevelWorkloadIdentity === true && cloudClients.includes(name);
  return [
    ...(featureGates[name]?.split(',') ?? []),
    ...(hasArtifacts ? ['ExternalArtifact=true'] : []),
    ...(signsIn ? ['ObjectLevelWorkloadIdentity=true'] : []),
  ];
}

/** Controllers whose objects may refer to objects of other namespaces. */
const referring = [
  'kustomize-controller',
  'helm-controller',
  NOTIFICATION_CONTROLLER,
  'image-reflector-controller',
  'image-automation-controller',
  SOURCE_WATCHER,
];

/**
 * The multi-tenancy lockdown of Flux (docs/flux-facts.md). Controllers refuse the accounts for clouds without the gate
 * for them.
 */
function lockdownOf(name: string, install: FluxInstall): ControllerFlags {
  const { tenantDefaultServiceAccount: account = 'default', objectLevelWorkloadIdentity: signsIn = false } = install;
  const { tenantDefaultDecryptionServiceAccount: ofKeys = 'default' } = install;
  const { tenantDefaultKubeConfigServiceAccount: ofClusters = 'default' } = install;
  const isApplier = artifactConsumers.includes(name);
  return {
    'no-cross-namespace-refs': referring.includes(name) ? 'true' : undefined,
    'no-remote-bases': name === 'kustomize-controller' ? 'true' : undefined,
    'default-service-account': isApplier || (signsIn && cloudClients.includes(name)) ? account : undefined,
    'default-decryption-service-account': signsIn && name === 'kustomize-controller' ? ofKeys : undefined,
    'default-kubeconfig-service-account': signsIn && isApplier ? ofClusters : undefined,
  };
}

/**
 * A kustomize-controller leaves an object with these annotations alone, whatever its sources hold: a repository with its
 * own `gotk-components.yaml` must not fight with us about Flux (docs/flux-facts.md, decision 51).
 */
export const protection = {
  'kustomize.toolkit.fluxcd.io/ssa': 'Ignore',
  'kustomize.toolkit.fluxcd.io/prune': 'Disabled',
} as const;

/** Returns an installed object with the protection. Its Pods stay: only the metadata of the object itself changes. */
export function withProtection(object: KubeObject): KubeObject {
  const annotations = { ...object.metadata.annotations, ...protection };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
