import { explain } from '../../../functions/managed-resources/deliver/explain.ts';
import { applyState, managedResourceNames } from '../../../shared/gardener/managed-resource.ts';
import type { Applied, ManagedResource } from '../../../shared/gardener/types.ts';
import { kubectl, type Link, safeSentence } from './link.ts';

/** How far a ManagedResource is. */
interface Delivered {
  name: string;
  mark: 'ok' | 'broken' | 'attention';
  sentence: string;
}

/**
 * Explains how far the four ManagedResources are applied to the shoot.
 * @param record absent: nothing was planned yet
 */
export function explainDelivery(
  live: readonly ManagedResource[],
  record: Applied | undefined,
  namespace: string,
  flags: readonly string[],
): Link {
  const byName = new Map(live.map((resource) => [resource.metadata.name, resource]));
  const all = Object.values(managedResourceNames)
    .filter((name) => byName.has(name) || record?.managedResources[name] !== undefined)
    .map((name) => delivered(name, byName.get(name), record?.managedResources[name]));
  const worst = all.find(({ mark }) => mark === 'broken') ?? all.find(({ mark }) => mark === 'attention');
  const details = all.filter((one) => one !== worst).map(({ sentence }) => sentence);
  if (all.length === 0) return { name: 'Delivery', mark: 'attention', text: 'nothing has been delivered yet', details };
  const applied = all.filter(({ mark }) => mark === 'ok').length;
  const text = `${applied} of ${all.length} ManagedResources are applied`;
  if (worst === undefined) return { name: 'Delivery', mark: 'ok', text, details };
  const { name, mark, sentence } = worst;
  const command = kubectl(['get', 'managedresource', name, '-o', 'yaml'], namespace, flags);
  return { name: 'Delivery', mark, text, sentence, command, details };
}

/** @param secret the Secret with the content that was planned last */
function delivered(name: string, live: ManagedResource | undefined, secret: string | undefined): Delivered {
  if (live === undefined) {
    const sentence = `ManagedResource ${name} does not exist; the next run of shoot-flux creates it.`;
    return { name, mark: 'broken', sentence };
  }
  const state = applyState(live);
  if (state.state === 'failing') {
    return { name, mark: 'broken', sentence: safeSentence(explain(name, state.reason, state.message)) };
  }
  const isPlanned = secret === undefined || live.spec.secretRefs.some((reference) => reference.name === secret);
  if (state.state === 'pending' || !isPlanned) {
    const what = isPlanned ? 'is being applied' : 'has its former content, and gets the next one';
    return { name, mark: 'attention', sentence: `ManagedResource ${name} ${what}; wait for the resource-manager.` };
  }
  const healthy = live.status?.conditions?.find(({ type }) => type === 'ResourcesHealthy');
  const isUnhealthy = healthy !== undefined && healthy.status !== 'True';
  const health = isUnhealthy ? `, and not healthy: ${safeSentence(healthy.message)}` : '';
  return { name, mark: isUnhealthy ? 'attention' : 'ok', sentence: `ManagedResource ${name} is applied${health}` };
}
