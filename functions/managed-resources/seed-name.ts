import type { Cluster } from '../../shared/gardener/types.ts';

/**
 * One sentence where this deployment calls a seed otherwise than the garden does. Everything but the fan-out works
 * then: it follows the name that the Shoot has, and finds nobody there.
 */
export function misnamedSeed({ spec }: Cluster, name: string): string | undefined {
  const inGarden = spec.seed?.metadata?.name;
  if (inGarden === undefined || inGarden === name) return undefined;
  return (
    `the garden calls this seed ${inGarden}, and here it is ${name}: ` +
    'give it the same name, or changes of flux-config reach its Shoots only with the hourly resync.'
  );
}
