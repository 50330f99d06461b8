import type { KubeClient } from '../../shared/kube/client.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import type { Context } from '../../shared/runtime/context.ts';
import type { Operation } from './operation.ts';

export const fieldManager = 'shoot-flux-keys';

/** `flux-config` as the API server gives it. */
export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

/** One look at a project's configuration, and what follows from it. */
export interface Run {
  garden: KubeClient;
  configMap: ConfigMap;
  context: Context;
  namespace: string;
  operation: Operation | undefined;
}
