import { errorMessage, ShootFluxError } from '../../shared/errors.ts';
import { ownNamespace } from '../../shared/kube/connection.ts';
import { createKubeClient } from '../../shared/kube/http-client.ts';
import { isName } from '../../shared/runtime/change-request.ts';
import { connectionOf, IN_CLUSTER } from '../../shared/runtime/clusters.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import { missing, UsageError, type Values } from './option.ts';
import type { clusterOptions, healthOptions, watchedClusterOptions } from './options.ts';
import { isFlag, named, quoted } from './sources.ts';

export const clusterNotes = 'KUBECONFIG is a file, or in-cluster for the cluster that this process runs in.';

/** Not to watch the garden, although gardenlet names its kubeconfig. */
const NO_GARDEN = 'none';

/** The clusters that a command serves. */
export interface Clusters {
  /** Kubeconfig files, or `in-cluster`, by cluster name. */
  files: Record<string, string>;
  seeds: string[];
}

/**
 * Returns the garden and the seeds. A cluster may be unreachable at start; a broken kubeconfig fails at once.
 * @throws UsageError, or ShootFluxError for a kubeconfig that cannot be used
 */
export async function clustersOf(values: Values<typeof clusterOptions>, needsSeeds = true): Promise<Clusters> {
  const garden = values.garden ?? missing('--garden KUBECONFIG');
  const seeds = seedsOf(values);
  if (seeds.length === 0 && needsSeeds) missing('--seed NAME=KUBECONFIG');
  return usable({ [GARDEN]: garden }, seeds);
}

/** Returns the garden, seeds or both. @throws UsageError, or ShootFluxError for a kubeconfig that cannot be used */
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

/**
 * Returns the namespaces by seed; that of the cluster that this process runs in is its own, unless an option names it.
 * Without a heartbeat, gardenlet would set the condition of every Shoot to Unknown (trap 37).
 * @throws UsageError when a namespace is missing or superfluous
 */
export async function heartbeatOf(
  values: Values<typeof healthOptions>,
  { seeds, files }: Clusters,
  own = ownNamespace,
): Promise<Record<string, string>> {
  const texts = values.namespace ?? [];
  const isWanted = values['shoot-health'] === true;
  if (!isWanted) {
    if (texts.length === 0 || !isFlag(values, 'namespace')) return {};
    throw new UsageError('--namespace requires --shoot-health');
  }
  const namespaces = Object.fromEntries(texts.map((text) => namespaceOf(values, text, seeds)));
  const here = seeds.find((seed) => files[seed] === IN_CLUSTER);
  if (here !== undefined) namespaces[here] ??= await own();
  const without = seeds.find((seed) => namespaces[seed] === undefined);
  if (without === undefined) return namespaces;
  throw new UsageError(
    `${named(values, 'shoot-health')} requires --namespace ${without}=NAMESPACE, the extension's namespace there`,
  );
}

function namespaceOf(values: object, text: string, seeds: readonly string[]): [string, string] {
  const [, seed = '', namespace] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (namespace === undefined)
    throw new UsageError(`${quoted(values, 'namespace', text)} is not of the form SEED=NAMESPACE`);
  if (!seeds.includes(seed))
    throw new UsageError(`${quoted(values, 'namespace', text)} does not name a seed of --seed`);
  return [seed, namespace];
}
