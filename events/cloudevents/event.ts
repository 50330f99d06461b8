import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import { changeId, encodeChange, keyId } from '../change.ts';

/** The attributes of a CloudEvent, without `datacontenttype`; all values are texts. */
export type Attributes = Readonly<Record<string, string>>;

/** A CloudEvent of version 1.0 whose data is JSON. */
export interface CloudEvent {
  attributes: Attributes;
  /** The data as JSON text. */
  data: string;
}

/** The function whose changes wait: the bridge takes them, and sends each one when it is due. */
export const DELAY = 'delay';

/** An error quotes this much of a foreign type. */
export const LONGEST_TYPE = 100;

/** Returns the type of the events that a function takes; the filter of its Trigger. */
export function typeOf(name: string): string {
  return `dev.shoot-flux.${name}.change.v1`;
}

/**
 * Returns the event that carries a change. Two sends of the same change have equal ids and sources, so that duplicates
 * are recognised, and `partitionkey` is equal for all changes of a key, so that a broker with partitions keeps their order.
 */
export function eventOf(change: ChangeRequest, now: Date): CloudEvent {
  return event(change, { type: typeOf(change.function), id: changeId(change) }, now);
}

/** Returns the event that carries a change to the bridge, which sends it when it is due. */
export function delayedEventOf(change: ChangeRequest, now: Date): CloudEvent {
  return event(change, { type: typeOf(DELAY), id: `${DELAY}-${changeId(change)}` }, now);
}

function event(change: ChangeRequest, own: { type: string; id: string }, now: Date): CloudEvent {
  const { cluster, namespace, name } = change.key;
  const attributes = {
    specversion: '1.0',
    ...own,
    source: `/shoot-flux/clusters/${encodeURIComponent(cluster)}`,
    subject: `${namespace}/${name}`,
    time: now.toISOString(),
    partitionkey: keyId(change),
  };
  return { attributes, data: encodeChange(change) };
}
