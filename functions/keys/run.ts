import type { KubeClient } from '../../shared/kube/client.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import type { Context } from '../../shared/runtime/context.ts';
import type { Operation } from './operation.ts';

export const fieldManager = 'shoot-flux-keys';

/** The ConfigMap `flux-config` as the API server returns it. */
export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

/** One attempt for a project's `flux-config`, as it was read. */
export interface Run {
  garden: KubeClient;
  configMap: ConfigMap;
  context: Context;
  namespace: string;
  operation: Operation | undefined;
}
