import { hash } from 'node:crypto';
import { apiVersionOf, type KubeObject, resources } from '../kube/resource.ts';
import { seconds } from './operation.ts';

/** The object that an Event is about. */
export interface EventSubject {
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  uid: string;
}

export interface EventContent {
  type: 'Normal' | 'Warning';
  reason: string;
  /** One sentence without secret content. */
  message: string;
}

/** The limit of `events.k8s.io/v1`, so that clients of both Event versions show the whole message. */
export const MAX_LENGTH = 1024;

/**
 * Returns an Event whose name follows from what it reports: a run that is repeated cannot create a second one.
 * @param identity what distinguishes it from the other Events about the object; default: reason and message
 */
export function eventAbout(
  { apiVersion, kind, namespace, name, uid }: EventSubject,
  { type, reason, message }: EventContent,
  now: Date,
  identity?: readonly string[],
): KubeObject {
  const note = message.length > MAX_LENGTH ? `${message.slice(0, MAX_LENGTH - 1)}…` : message;
  const time = seconds(now.getTime());
  return {
    apiVersion: apiVersionOf(resources.events),
    kind: resources.events.kind,
    metadata: { namespace, name: eventName({ name, uid }, identity ?? [reason, note]) },
    involvedObject: { apiVersion, kind, namespace, name, uid },
    type,
    reason,
    message: note,
    source: { component: 'shoot-flux' },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
}

/** Returns the name of an Event about an object. @param identity as of `eventAbout` */
export function eventName({ name, uid }: Pick<EventSubject, 'name' | 'uid'>, identity: readonly string[]): string {
  return `${name}.${hash('sha256', JSON.stringify([...identity, uid])).slice(0, 16)}`;
}
