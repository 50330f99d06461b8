import type { Connection } from '@shoot-flux/landscape/client';
import type { HttpKubeClient } from '../../../shared/kube/http-client.ts';

/** One cluster of a bench, for its administrator. */
export interface BenchCluster {
  connection: Connection;
  client: HttpKubeClient;
  /** A kubeconfig as YAML, and as a file that goes away with the cluster. */
  kubeconfig: string;
  kubeconfigFile: string;
}

/** The clusters of a bench. */
export interface BenchClusters extends AsyncDisposable {
  /** What serves them, for the notes of the table. */
  servedBy: string;
  /** Whether objects can only be in namespaces that are there. */
  needsNamespaces: boolean;
  /** Garden and seed in one: a second API server would only take from the two cores what is to be measured. */
  seed: BenchCluster;
  /** Only where it was asked for. */
  shoot?: BenchCluster | undefined;
}

/** What a bench can choose. */
export interface BenchClustersOptions {
  /** Whether there is a shoot. */
  shoot?: boolean;
  /** Objects keep the status with which they are created, which halves the requests for filling a seed. */
  statusInOneWrite?: boolean;
  /** Objects may be in missing namespaces, where the API server can be configured so. */
  anyNamespace?: boolean;
  /** No stand-in for kube-apiserver will do. */
  onlyReal?: boolean;
}
