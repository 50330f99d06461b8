import { explain } from '../../../functions/managed-resources/deliver/explain.ts';
import { applyState, managedResourceNames } from '../../../shared/gardener/managed-resource.ts';
import type { ManagedResource } from '../../../shared/gardener/types.ts';
import { kubectl } from '../kubectl.ts';
import type { Report } from './link.ts';
import type { Seed } from './read.ts';

type Delivered = [mark: Report['mark'], sentence: string];

/** Explains how far the four ManagedResources are applied to the shoot. */
export function explainDelivery(seed: Seed): Report {
  const planned = seed.extension?.status?.state?.applied?.managedResources ?? {};
  const live = new Map(seed.managedResources.map((resource) => [resource.metadata.name, resource]));
  const names = Object.values(managedResourceNames).filter((name) => live.has(name) || planned[name] !== undefined);
  const all = names.map((name) => {
    const [mark, sentence] = delivered(name, live.get(name), planned[name]);
    return { name, mark, sentence };
  });
  if (all.length === 0) return { mark: 'attention', text: 'nothing has been delivered yet' };
  const worst = all.find(({ mark }) => mark === 'broken') ?? all.find(({ mark }) => mark === 'attention');
  const details = all.filter((one) => one !== worst).map(({ sentence }) => sentence);
  const text = `${all.filter(({ mark }) => mark === 'ok').length} of ${all.length} ManagedResources are applied`;
  if (worst === undefined) return { mark: 'ok', text, details };
  const { name, mark, sentence } = worst;
  return { mark, text, sentence, command: kubectl(['get', 'managedresource', name, '-o', 'yaml'], seed), details };
}

/** @param secret the Secret with the content that was planned last; undefined: it is unknown */
function delivered(name: string, live: ManagedResource | undefined, secret: string | undefined): Delivered {
  const subject = `ManagedResource ${name}`;
  if (live === undefined) return ['broken', `${subject} does not exist; the next run of shoot-flux creates it.`];
  const state = applyState(live);
  if (state.state === 'failing') return ['broken', explain(name, state.reason, state.message)];
  const isPlanned = secret === undefined || live.spec.secretRefs.some((reference) => reference.name === secret);
  if (!isPlanned) return ['attention', `${subject} has its former content; the next run writes the new one.`];
  if (state.state === 'pending') return ['attention', `${subject} waits for the resource-manager of the Shoot.`];
  const healthy = live.status?.conditions?.find(({ type }) => type === 'ResourcesHealthy');
  if (healthy === undefined || healthy.status === 'True') return ['ok', `${subject} is applied`];
  return ['attention', `${subject} is applied, and not healthy: ${healthy.message}`];
}
