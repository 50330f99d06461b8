import type { Cluster, Extension, OperationType } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Context } from '../../shared/runtime/context.ts';
import type { Reporter } from './reporter.ts';

/** What one run works with: everything was read live in this run. */
export interface Run {
  context: Context;
  seed: KubeClient;
  /** The control-plane namespace. */
  namespace: string;
  extension: Extension;
  cluster: Cluster;
  operation: OperationType;
  reporter: Reporter;
}
