import type { FluxInstall } from '../../config/types.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { withFlags } from '../flags.ts';
import { componentOf, withController } from './deployment.ts';

type Size = NonNullable<FluxInstall['size']>;

/** The values of flux-operator, so that a size means the same (docs/flux-facts.md). */
const values: Record<Size, { concurrent: number; requeueDependency: string; limits: Record<string, string> }> = {
  small: { concurrent: 5, requeueDependency: '10s', limits: { cpu: '1000m', memory: '512Mi' } },
  medium: { concurrent: 10, requeueDependency: '5s', limits: { cpu: '2000m', memory: '1Gi' } },
  large: { concurrent: 20, requeueDependency: '5s', limits: { cpu: '3000m', memory: '3Gi' } },
};

const SOURCE_CONTROLLER = 'source-controller';

/** Controllers that do the work; the others only pass on what these have done. */
const sized = [SOURCE_CONTROLLER, 'kustomize-controller', 'helm-controller'];

/** Flux's documentation recommends these for clusters with many Helm releases. */
const helmCache = {
  'helm-cache-max-size': '10',
  'helm-cache-ttl': '60m',
  'helm-cache-purge-interval': '5m',
};

/** Returns a Deployment with the flags and limits of the size. */
export function withSize(deployment: KubeObject, install: FluxInstall): KubeObject {
  const component = componentOf(deployment, install);
  if (install.size === undefined || component === undefined || !sized.includes(component)) return deployment;
  const { concurrent, requeueDependency, limits } = values[install.size];
  const flags = {
    concurrent: String(concurrent),
    'requeue-dependency': requeueDependency,
    ...(component === SOURCE_CONTROLLER && helmCache),
  };
  return withController(deployment, ({ args = [], resources, ...container }) => ({
    ...container,
    args: withFlags(args, flags),
    resources: { ...resources, limits: { ...resources?.limits, ...limits } },
  }));
}
