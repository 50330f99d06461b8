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
  /** True when the run should come to its end: what is left of a long work is for the next one. */
  isTimeUp(): boolean;
}
