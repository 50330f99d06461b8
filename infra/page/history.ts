import type { KubeClient } from '../../shared/kube/client.ts';
import { ForbiddenError, unless } from '../../shared/kube/errors.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { textAt } from '../../shared/shapes.ts';

/** What has happened to one Shoot, newest first; or why it cannot be seen. */
export type History = { entries: ReturnType<typeof entryOf>[] } | { unseen: string };

const MOST_ENTRIES = 100;

/** The garden keeps few Events about one Shoot, but members may write any number. */
const MOST_EVENTS = 1000;

/** Reads the Events about a Shoot. */
export async function readHistory(garden: Pick<KubeClient, 'list'>, namespace: string, name: string): Promise<History> {
  const selection = { namespace, fieldSelector: `involvedObject.name=${name}`, limit: MOST_EVENTS };
  const events = await unless(garden.list(resources.events, selection), ForbiddenError);
  if (events === undefined) return notAllowed(namespace);
  // Other objects may have the name of the Shoot.
  const entries = events.items
    .filter((event) => textAt(event, 'involvedObject', 'kind') === resources.shoots.kind)
    .map(entryOf)
    .sort((one, other) => (one.time < other.time ? 1 : -1));
  return { entries: entries.slice(0, MOST_ENTRIES) };
}

export const notAllowed = (namespace: string): History => ({
  unseen: `The history is missing, because Events in namespace ${namespace} may not be listed with these rights.`,
});

const entryOf = (event: KubeObject) => ({
  /** RFC 3339. */
  time: textAt(event, 'lastTimestamp') || textAt(event, 'eventTime') || (event.metadata.creationTimestamp ?? ''),
  isWarning: event.type === 'Warning',
  reason: textAt(event, 'reason') ?? '',
  message: textAt(event, 'message') ?? '',
  /** How often. */
  count: typeof event.count === 'number' ? event.count : 1,
});
