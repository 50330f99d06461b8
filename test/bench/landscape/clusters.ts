import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { buildTools } from '../../real/tools/build.ts';
import type { Progress } from '../bench.ts';
import type { BenchClusters, BenchClustersOptions } from './bench-clusters.ts';
import { startEmbeddedClusters } from './embedded-clusters.ts';
import { startRealClusters } from './real-clusters.ts';

/** Starts real API servers, or embedded ones if this machine neither has nor can build real ones. */
export async function startClusters(options: BenchClustersOptions, progress: Progress): Promise<BenchClusters> {
  const crds = [...gardenCrds(), ...seedCrds().map(options.statusInOneWrite === true ? withoutSubresources : itself)];
  try {
    await buildTools(['etcd', 'kube-apiserver'], progress);
  } catch (error) {
    if (options.onlyReal === true) throw error;
    progress(`the embedded API stands in for kube-apiserver: ${error instanceof Error ? error.message : error}`);
    return startEmbeddedClusters(options, crds);
  }
  return startRealClusters(options, crds);
}

function itself(crd: KubeObject): KubeObject {
  return crd;
}

function withoutSubresources(crd: KubeObject): KubeObject {
  const spec = crd.spec as { versions: { subresources?: unknown }[] };
  return { ...crd, spec: { ...spec, versions: spec.versions.map(({ subresources: _, ...version }) => version) } };
}
