import { connectionOf } from '../../shared/runtime/clusters.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import { type Option, UsageError, type Values } from './command.ts';

/** Options that say which clusters a command serves. */
export const clusterOptions = {
  garden: { type: 'string', value: 'KUBECONFIG', description: 'Kubeconfig of the garden.', required: true },
  seed: {
    type: 'string',
    multiple: true,
    value: 'NAME=KUBECONFIG',
    description: 'A seed to serve, under its name in the garden. Repeatable.',
    required: true,
  },
} as const satisfies Record<string, Option>;

export const clusterNotes = 'KUBECONFIG is a file, or in-cluster for the cluster that this process runs in.';

/**
 * Returns the kubeconfig files by cluster, and the names of the seeds. A cluster may be unreachable at start; a broken
 * kubeconfig fails at once, because it is the operator's mistake.
 * @throws UsageError, or ShootFluxError for a kubeconfig that cannot be used
 */
export async function clustersOf(
  values: Values<typeof clusterOptions>,
): Promise<{ files: Record<string, string>; seeds: string[] }> {
  const garden = values.garden ?? missing('--garden KUBECONFIG');
  const seeds = seedsOf(values.seed ?? missing('--seed NAME=KUBECONFIG'));
  const files = Object.fromEntries([[GARDEN, garden], ...seeds]);
  await Promise.all(Object.values(files).map(connectionOf));
  return { files, seeds: seeds.map(([name]) => name) };
}

/** @throws UsageError */
export function missing(option: string): never {
  throw new UsageError(`option ${option} is required`);
}

function seedsOf(texts: string[]): [string, string][] {
  const seeds = texts.map(seedOf);
  const twice = seeds.find(([name], index) => seeds.findIndex(([other]) => other === name) < index);
  if (twice !== undefined) throw new UsageError(`--seed ${twice[0]} is given twice`);
  return seeds;
}

function seedOf(text: string): [string, string] {
  const [, name, file] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name === undefined || file === undefined)
    throw new UsageError(`--seed ${text} is not of the form NAME=KUBECONFIG`);
  if (name === GARDEN) throw new UsageError(`a seed cannot be called ${GARDEN}`);
  return [name, file];
}
