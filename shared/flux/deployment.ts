import type { Origins } from '../config/origins.ts';
import type { Policy } from '../config/policy/policy.ts';
import type { FluxInstall } from '../config/types.ts';
import type { KubeObject } from '../kube/resource.ts';

/** What the objects of an installation are changed with. */
export interface Customisation {
  install: FluxInstall;
  /** The Flux release, for example `v2.9.4`. */
  version: string;
  /** Where the user sets each option. */
  origins: Origins;
  /** The landscape's policy, which judges the result. */
  policy?: Policy | undefined;
}

/** What the options of a user make of an installation. */
export interface Customised {
  objects: KubeObject[];
  /** How many characters of JSON the patches have added to them; negative where they have removed more. */
  added: number;
}

export interface EnvironmentVariable {
  name: string;
  value?: string;
  valueFrom?: object;
}

export interface Container {
  image: string;
  args?: string[];
  env?: EnvironmentVariable[];
  resources?: { limits?: Record<string, string>; [field: string]: unknown };
  [field: string]: unknown;
}

export interface PodSpec {
  containers: Container[];
  nodeSelector?: Record<string, string>;
  volumes?: { name: string; [field: string]: unknown }[];
  [field: string]: unknown;
}

interface DeploymentSpec {
  selector: { matchLabels: Record<string, string> };
  template: { metadata: { labels: Record<string, string>; [field: string]: unknown }; spec: PodSpec };
  [field: string]: unknown;
}

/** Returns the component that a Deployment runs, also of a shard. */
export function componentOf({ metadata }: KubeObject, { components }: FluxInstall): string | undefined {
  return components.find((name) => metadata.name === name || metadata.name.startsWith(`${name}-`));
}

/** Returns a Deployment with a changed Pod. */
export function withPod(deployment: KubeObject, change: (pod: PodSpec) => PodSpec): KubeObject {
  const spec = specOf(deployment);
  return { ...deployment, spec: { ...spec, template: { ...spec.template, spec: change(spec.template.spec) } } };
}

/** Returns a Deployment whose first container, the controller, is changed. */
export function withController(deployment: KubeObject, change: (container: Container) => Container): KubeObject {
  return withPod(deployment, (pod) => ({
    ...pod,
    containers: pod.containers.map((container, index) => (index === 0 ? change(container) : container)),
  }));
}

export function specOf(deployment: KubeObject): DeploymentSpec {
  return deployment.spec as DeploymentSpec;
}

/** Returns the host of a Service. The kubelet fills in the namespace; the final dot avoids search domains and proxies. */
export function serviceHost(service: string, clusterDomain: string): string {
  return `${service}.$(RUNTIME_NAMESPACE).svc.${clusterDomain}.`;
}

/** Flags of a controller; `undefined` keeps the release's value. */
export type ControllerFlags = Record<string, string | undefined>;

/**
 * Sets flags by name, because their positions differ between releases. Existing flags keep their position, so that the
 * order is the release's own; missing ones are appended.
 */
export function withFlags(args: readonly string[], flags: ControllerFlags): string[] {
  const result = [...args];
  for (const [name, value] of Object.entries(flags)) {
    if (value === undefined) continue;
    const at = result.findIndex((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
    result.splice(at === -1 ? result.length : at, 1, `--${name}=${value}`);
  }
  return result;
}
