import { isName } from '../../events/change.ts';
import { errorMessage, ShootFluxError } from '../../shared/errors.ts';
import { createKubeClient } from '../../shared/kube/http-client.ts';
import { connectionOf } from '../../shared/runtime/clusters.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import { UsageError, type Values } from './option.ts';
import type { clusterOptions, watchedClusterOptions } from './options.ts';
import { quoted } from './sources/origins.ts';

export const clusterNotes = 'KUBECONFIG is a file, or in-cluster for the cluster that this process runs in.';

/** Not to watch the garden, although gardenlet names its kubeconfig. */
const NO_GARDEN = 'none';

/** The clusters that a command serves. */
export interface Clusters {
  /** Kubeconfig files, or `in-cluster`, by cluster name. */
  files: Record<string, string>;
  /** Names of the seeds. */
  seeds: string[];
}

/**
 * Returns the garden and the seeds. A cluster may be unreachable at start; a broken kubeconfig fails at once, because it
 * is the operator's mistake.
 * @param needsSeeds whether at least one seed is required
 * @throws UsageError, or ShootFluxError for a kubeconfig that cannot be used
 */
export async function clustersOf(values: Values<typeof clusterOptions>, needsSeeds = true): Promise<Clusters> {
  const garden = values.garden ?? missing('--garden KUBECONFIG');
  const seeds = seedsOf(values);
  if (seeds.length === 0 && needsSeeds) missing('--seed NAME=KUBECONFIG');
  return usable({ [GARDEN]: garden }, seeds);
}

/**
 * Returns the garden, seeds or both.
 * @throws UsageError, or ShootFluxError for a kubeconfig that cannot be used
 */
export async function watchedClustersOf(values: Values<typeof watchedClusterOptions>): Promise<Clusters> {
  const seeds = seedsOf(values);
  const garden: Record<string, string> =
    values.garden === undefined || values.garden === NO_GARDEN ? {} : { [GARDEN]: values.garden };
  if (garden[GARDEN] === undefined && seeds.length === 0) missing('--garden KUBECONFIG or --seed NAME=KUBECONFIG');
  return usable(garden, seeds);
}

/**
 * Returns the clusters once their kubeconfigs have been read, and can be used. The plugin of a seed is not asked: while
 * it fails, that seed cannot be listed, and the others are served.
 */
async function usable(garden: Record<string, string>, seeds: [string, string][]): Promise<Clusters> {
  const files = { ...garden, ...Object.fromEntries(seeds) };
  await Promise.all(Object.entries(files).map(([name, file]) => tryConnection(file, name === GARDEN)));
  return { files, seeds: seeds.map(([name]) => name) };
}

async function tryConnection(file: string, asksPlugin: boolean): Promise<void> {
  const connection = await connectionOf(file, asksPlugin);
  try {
    createKubeClient(connection).close();
  } catch (error) {
    throw new ShootFluxError(`kubeconfig ${file} cannot be used: ${errorMessage(error)}`);
  }
}

/** @throws UsageError */
export function missing(option: string): never {
  throw new UsageError(`option ${option} is required`);
}

/** Returns the name and the kubeconfig of each seed. @throws UsageError */
function seedsOf(values: { seed?: string[] }): [string, string][] {
  const seeds = (values.seed ?? []).map((text) => seedOf(values, text));
  const twice = seeds.find(([name], index) => seeds.findIndex(([other]) => other === name) < index);
  if (twice !== undefined) throw new UsageError(`${quoted(values, 'seed', twice[0])} is given twice`);
  return seeds;
}

function seedOf(values: object, text: string): [string, string] {
  const [, name, file] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name === undefined || file === undefined)
    throw new UsageError(`${quoted(values, 'seed', text)} is not of the form NAME=KUBECONFIG`);
  if (!isName(name)) throw new UsageError(`${quoted(values, 'seed', name)} is not the name of a seed`);
  if (name === GARDEN) throw new UsageError(`a seed cannot be called ${GARDEN}`);
  return [name, file];
}
