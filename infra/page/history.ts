import type { KubeClient } from '../../shared/kube/client.ts';
import { ForbiddenError } from '../../shared/kube/errors.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { textAt } from '../../shared/shapes.ts';

/** Something that has happened to a Shoot. */
export interface HistoryEntry {
  /** RFC 3339. */
  time: string;
  isWarning: boolean;
  reason: string;
  message: string;
  /** How often. */
  count: number;
}

/** The history of one Shoot, newest first; or why it cannot be seen. */
export type History = { entries: HistoryEntry[] } | { unseen: string };

const MOST_ENTRIES = 100;

/** The garden keeps few Events about one Shoot, but members may write any number. */
const MOST_EVENTS = 1000;

/** Reads the Events about a Shoot. */
export async function readHistory(garden: Pick<KubeClient, 'list'>, namespace: string, name: string): Promise<History> {
  try {
    const fieldSelector = `involvedObject.name=${name}`;
    const { items } = await garden.list(resources.events, { namespace, fieldSelector, limit: MOST_EVENTS });
    return { entries: historyIn(items) };
  } catch (error) {
    if (error instanceof ForbiddenError) return notAllowed(namespace);
    throw error;
  }
}

export const notAllowed = (namespace: string): History => ({
  unseen: `The history is missing, because Events in namespace ${namespace} may not be listed with these rights.`,
});

/** Returns what Events say about the Shoot itself. */
export function historyIn(events: readonly KubeObject[]): HistoryEntry[] {
  return events
    .filter((event) => textAt(event, 'involvedObject', 'kind') === resources.shoots.kind)
    .map((event) => ({
      time:
        [textAt(event, 'lastTimestamp'), textAt(event, 'eventTime'), event.metadata.creationTimestamp].find(Boolean) ??
        '',
      isWarning: event.type === 'Warning',
      reason: textAt(event, 'reason') ?? '',
      message: textAt(event, 'message') ?? '',
      count: typeof event.count === 'number' ? event.count : 1,
    }))
    .sort((one, other) => (one.time < other.time ? 1 : -1))
    .slice(0, MOST_ENTRIES);
}
