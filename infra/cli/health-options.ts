import { ownNamespace } from '../../shared/kube/connection.ts';
import { IN_CLUSTER } from '../../shared/runtime/clusters.ts';
import type { Clusters } from './clusters.ts';
import { UsageError, type Values } from './option.ts';
import type { healthOptions } from './options.ts';
import { isFlag, named, quoted } from './sources/origins.ts';

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
