import type { FluxInstall } from '../config/types.ts';
import type { KubeObject } from '../kube/resource.ts';
import { type ControllerFlags, serviceHost, withFlags } from './flags.ts';
import type { ImageDigests } from './release.ts';

const NOTIFICATION_CONTROLLER = 'notification-controller';
const SOURCE_WATCHER = 'source-watcher';

/** Components that serve artifacts and announce the address. */
const artifactServers = ['source-controller', SOURCE_WATCHER];

/** Components that can use the artifacts of source-watcher. */
const artifactConsumers = ['kustomize-controller', 'helm-controller'];

interface Container {
  args?: string[];
  image: string;
  [field: string]: unknown;
}

interface PodTemplate {
  metadata?: { labels?: Record<string, string>; [field: string]: unknown };
  spec: { containers: Container[]; nodeSelector?: Record<string, string>; [field: string]: unknown };
}

/** Returns a component's Deployment as `flux install` does: pod labels, node selector, pull secret, tolerations, flags. */
export function installedDeployment(
  deployment: KubeObject,
  install: FluxInstall,
  labels: Record<string, string>,
  digests: ImageDigests = {},
): KubeObject {
  const spec = deployment.spec as { template: PodTemplate };
  const { metadata, spec: pod } = spec.template;
  const [first, ...others] = pod.containers.map((container) => ({
    ...container,
    image: imageOf(container, install, digests),
  }));
  const { tolerationKeys } = install;
  const imagePullSecrets = pullSecretsOf(install);
  const template = {
    ...spec.template,
    metadata: { ...metadata, labels: { ...metadata?.labels, ...labels } },
    spec: {
      ...pod,
      containers: first && [{ ...first, args: argsOf(deployment.metadata.name, first.args ?? [], install) }, ...others],
      nodeSelector: { ...pod.nodeSelector, 'kubernetes.io/os': 'linux' },
      ...(imagePullSecrets.length > 0 && { imagePullSecrets }),
      ...(tolerationKeys.length > 0 && { tolerations: tolerationKeys.map((key) => ({ key, operator: 'Exists' })) }),
    },
  };
  return { ...deployment, spec: { ...spec, template } };
}

/** The user's own comes first; the node tries each that is for the registry of the image. */
function pullSecretsOf({ imagePullSecret, landscapePullSecret }: FluxInstall): { name: string }[] {
  const names = new Set([imagePullSecret, landscapePullSecret].filter((name) => name !== undefined));
  return [...names].map((name) => ({ name }));
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
  };
  const gated = components.includes(SOURCE_WATCHER) && artifactConsumers.includes(name);
  return [...withFlags(args, flags), ...(gated ? ['--feature-gates=ExternalArtifact=true'] : [])];
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

/** The multi-tenancy lockdown of Flux (docs/flux-facts.md). */
function lockdownOf(name: string, { tenantDefaultServiceAccount = 'default' }: FluxInstall): ControllerFlags {
  return {
    'no-cross-namespace-refs': referring.includes(name) ? 'true' : undefined,
    'no-remote-bases': name === 'kustomize-controller' ? 'true' : undefined,
    'default-service-account': artifactConsumers.includes(name) ? tenantDefaultServiceAccount : undefined,
  };
}
