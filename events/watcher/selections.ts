import { onlyProjectOf } from '../../shared/gardener/shoot-changes.ts';
import { type Resource, resources } from '../../shared/kube/resource.ts';
import type { FunctionDefinition, Subscription } from '../../shared/runtime/definition.ts';
import { GARDEN } from '../../shared/runtime/key.ts';

/** Which clusters one watcher serves. */
export interface WatchedClusters {
  garden: boolean;
  /** Names of seeds. */
  seeds: string[];
}

/** One function's subscription to a selection. */
export interface Subscriber {
  function: string;
  subscription: Subscription;
}

/** The objects of one list and watch, shared by all functions that subscribed to it. */
export interface Selection {
  cluster: string;
  /** Undefined: all namespaces. */
  namespace?: string | undefined;
  resource: Resource;
  fieldSelector?: string | undefined;
  labelSelector?: string | undefined;
  metadataOnly: boolean;
  subscribers: Subscriber[];
}

/** Returns the fewest lists and watches that serve all subscriptions. */
export function selectionsOf(definitions: FunctionDefinition[], clusters: WatchedClusters): Selection[] {
  const selections = new Map<string, Selection>();
  for (const definition of definitions) {
    for (const subscription of definition.subscriptions) {
      for (const cluster of clustersOf(subscription, clusters)) {
        const selection = selectionOf(cluster, subscription, clusters);
        const text = JSON.stringify([cluster, selection.resource, selection.fieldSelector, selection.labelSelector]);
        const known = selections.get(text) ?? selection;
        selections.set(text, known);
        known.subscribers.push({ function: definition.name, subscription });
        // One list serves subscribers of whole objects and of metadata.
        known.metadataOnly &&= selection.metadataOnly;
      }
    }
  }
  return [...selections.values()];
}

function clustersOf(subscription: Subscription, { garden, seeds }: WatchedClusters): string[] {
  if (subscription.in === 'seed') return seeds;
  return garden ? [GARDEN] : [];
}

function selectionOf(cluster: string, subscription: Subscription, { seeds }: WatchedClusters): Selection {
  const { resource, fieldSelector, labelSelector } = subscription;
  // The content of a Secret never reaches the watcher, whatever the definition says.
  const metadataOnly = subscription.metadataOnly === true || resource.kind === resources.secrets.kind;
  const namespace = cluster === GARDEN ? onlyProjectOf(seeds) : undefined;
  return { cluster, namespace, resource, fieldSelector, labelSelector, metadataOnly, subscribers: [] };
}
