import type { FluxInstall } from '../config/types.ts';
import type { KubeObject } from '../kube/resource.ts';

export interface EnvironmentVariable {
  name: string;
  value?: string;
  valueFrom?: object;
}

export interface Container {
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
