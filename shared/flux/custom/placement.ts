import type { FluxInstall } from '../../config/types.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { withPod } from './deployment.ts';

/** Returns a Deployment with the node selector and the PriorityClass of the configuration. */
export function withPlacement(deployment: KubeObject, { nodeSelector, priorityClass }: FluxInstall): KubeObject {
  return withPod(deployment, (pod) => ({
    ...pod,
    ...(nodeSelector && { nodeSelector: { ...pod.nodeSelector, ...nodeSelector } }),
    ...(priorityClass !== undefined && { priorityClassName: priorityClass }),
  }));
}
