import { type Option, UsageError, type Values } from './command.ts';

/** Options of `run` for the Shoots' health. */
export const healthOptions = {
  'shoot-health': {
    type: 'boolean',
    description:
      "Report failures of Flux in the Shoot's health (SystemComponentsHealthy). Default: only in the extension's own conditions.",
  },
  namespace: {
    type: 'string',
    multiple: true,
    value: 'SEED=NAMESPACE',
    description:
      "With --shoot-health, for each seed: the extension's namespace there, in which gardenlet expects a heartbeat.",
  },
} as const satisfies Record<string, Option>;

/**
 * Returns the namespaces by seed. Without a heartbeat, gardenlet would set the condition of every Shoot to Unknown
 * (trap 37).
 * @throws UsageError when a namespace is missing or superfluous
 */
export function heartbeatOf(values: Values<typeof healthOptions>, seeds: readonly string[]): Record<string, string> {
  const texts = values.namespace ?? [];
  const isWanted = values['shoot-health'] === true;
  if (!isWanted && texts.length > 0) throw new UsageError('--namespace requires --shoot-health');
  const namespaces = Object.fromEntries(texts.map((text) => namespaceOf(text, seeds)));
  const without = isWanted ? seeds.find((seed) => namespaces[seed] === undefined) : undefined;
  if (without === undefined) return namespaces;
  throw new UsageError(`--shoot-health requires --namespace ${without}=NAMESPACE, the extension's namespace there`);
}

function namespaceOf(text: string, seeds: readonly string[]): [string, string] {
  const [, seed = '', namespace] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (namespace === undefined) throw new UsageError(`--namespace ${text} is not of the form SEED=NAMESPACE`);
  if (!seeds.includes(seed)) throw new UsageError(`--namespace ${text} does not name a seed of --seed`);
  return [seed, namespace];
}
