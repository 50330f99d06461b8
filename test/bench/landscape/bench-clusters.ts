import type { Connection } from '@shoot-flux/landscape/client';
import type { HttpKubeClient } from '../../../shared/kube/http-client.ts';

/** One cluster of a bench, with its administrator's client. */
export interface BenchCluster {
  connection: Connection;
  client: HttpKubeClient;
  /** A kubeconfig as YAML, and as a file that is deleted with the cluster. */
  kubeconfig: string;
  kubeconfigFile: string;
  /** Forgets the history of all objects, as etcd does every five minutes. Embedded API servers only. */
  compact?(): void;
}

/** The clusters of a bench. */
export interface BenchClusters extends AsyncDisposable {
  /** Names the kind of API server, for the notes of the table. */
  servedBy: string;
  /** Whether the namespace of an object must exist. */
  needsNamespaces: boolean;
  /** Garden and seed in one, because a second API server would compete for the two cores. */
  seed: BenchCluster;
  /** A second seed. Only if the options ask for it. */
  otherSeed?: BenchCluster | undefined;
  /** Only if the options ask for it. */
  shoot?: BenchCluster | undefined;
}

/** Options of a bench. */
export interface BenchClustersOptions {
  /** Whether to start a shoot. */
  shoot?: boolean;
  /** Whether to start a second seed. */
  otherSeed?: boolean;
  /** Objects keep the status with which they are created, which halves the requests for filling a seed. */
  statusInOneWrite?: boolean;
  /** Objects may be in missing namespaces, where the API server can be configured so. */
  anyNamespace?: boolean;
  /** Fails instead of falling back to embedded API servers. */
  onlyReal?: boolean;
}
