import { type Option, UsageError, type Values } from './command.ts';

/** What `run` is told about the Shoots' health. */
export const healthOptions = {
  'shoot-health': {
    type: 'boolean',
    description: "Let a broken Flux mark the user's Shoot unhealthy; default: only our own conditions tell.",
  },
  namespace: {
    type: 'string',
    multiple: true,
    value: 'SEED=NAMESPACE',
    description:
      "With --shoot-health, for each seed: the extension's own namespace in it, where gardenlet looks for our heartbeat.",
  },
} as const satisfies Record<string, Option>;

/**
 * Namespaces by seed. Health without a heartbeat would turn the condition of every Shoot to Unknown (trap 37).
 * @throws UsageError when one is missing or of no use
 */
export function heartbeatOf(values: Values<typeof healthOptions>, seeds: readonly string[]): Record<string, string> {
  const texts = values.namespace ?? [];
  const isWanted = values['shoot-health'] === true;
  if (!isWanted && texts.length > 0) throw new UsageError('--namespace is of no use without --shoot-health');
  const namespaces = Object.fromEntries(texts.map((text) => namespaceOf(text, seeds)));
  const without = isWanted ? seeds.find((seed) => namespaces[seed] === undefined) : undefined;
  if (without === undefined) return namespaces;
  throw new UsageError(`--shoot-health needs --namespace ${without}=NAMESPACE, the extension's own namespace there`);
}

function namespaceOf(text: string, seeds: readonly string[]): [string, string] {
  const [, seed = '', namespace] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (namespace === undefined) throw new UsageError(`--namespace ${text} is not of the form SEED=NAMESPACE`);
  if (!seeds.includes(seed)) throw new UsageError(`--namespace ${text} names none of the seeds`);
  return [seed, namespace];
}
