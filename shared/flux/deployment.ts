import type { FluxInstall } from '../config/effective.ts';
import type { KubeObject } from '../kube/resource.ts';
import { type ControllerFlags, withFlags } from './controller-flags.ts';

const NOTIFICATION_CONTROLLER = 'notification-controller';
const SOURCE_WATCHER = 'source-watcher';

/** Components that serve artifacts, at an address that they announce. */
const storages = ['source-controller', SOURCE_WATCHER];

/** Components that can take what source-watcher makes. */
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

/** A component's Deployment as `flux install` writes it: pod labels, node selector, pull secret, tolerations, flags. */
export function installedDeployment(
  deployment: KubeObject,
  install: FluxInstall,
  labels: Record<string, string>,
): KubeObject {
  const spec = deployment.spec as { template: PodTemplate };
  const { metadata, spec: pod } = spec.template;
  const [first, ...others] = pod.containers.map((container) => ({ ...container, image: imageOf(container, install) }));
  const { imagePullSecret, tolerationKeys } = install;
  const template = {
    ...spec.template,
    metadata: { ...metadata, labels: { ...metadata?.labels, ...labels } },
    spec: {
      ...pod,
      containers: first && [{ ...first, args: argsOf(deployment.metadata.name, first.args ?? [], install) }, ...others],
      nodeSelector: { ...pod.nodeSelector, 'kubernetes.io/os': 'linux' },
      ...(imagePullSecret !== undefined && { imagePullSecrets: [{ name: imagePullSecret }] }),
      ...(tolerationKeys.length > 0 && { tolerations: tolerationKeys.map((key) => ({ key, operator: 'Exists' })) }),
    },
  };
  return { ...deployment, spec: { ...spec, template } };
}

/** A release names its images `fluxcd/<component>:<tag>`. */
function imageOf({ image }: Container, install: FluxInstall): string {
  const component = install.components.find((name) => image.startsWith(`fluxcd/${name}:`));
  return component === undefined ? image : `${install.registry}/${image.slice('fluxcd/'.length)}`;
}

function argsOf(name: string, args: readonly string[], install: FluxInstall): string[] {
  const { components, clusterDomain } = install;
  // Without a receiver events go nowhere: the address that the release has by itself would lead to one.
  const receives = components.includes(NOTIFICATION_CONTROLLER);
  const eventsAddress = receives ? `http://${serviceHost(NOTIFICATION_CONTROLLER, clusterDomain)}/` : '';
  const flags: ControllerFlags = {
    'events-addr': name === NOTIFICATION_CONTROLLER ? undefined : eventsAddress,
    'watch-all-namespaces': String(install.watchAllNamespaces),
    'log-level': install.logLevel,
    'storage-adv-addr': storages.includes(name) ? serviceHost(name, clusterDomain) : undefined,
  };
  const gated = components.includes(SOURCE_WATCHER) && artifactConsumers.includes(name);
  return [...withFlags(args, flags), ...(gated ? ['--feature-gates=ExternalArtifact=true'] : [])];
}

/** The kubelet fills in the namespace. The final dot keeps search domains and proxies out of it. */
function serviceHost(service: string, clusterDomain: string): string {
  return `${service}.$(RUNTIME_NAMESPACE).svc.${clusterDomain}.`;
}
