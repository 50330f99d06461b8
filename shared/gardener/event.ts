import { hash } from 'node:crypto';
import type { KubeClient } from '../kube/client.ts';
import { AlreadyExistsError, unless } from '../kube/errors.ts';
import { apiVersionOf, type KubeObject, type ObjectMeta, type Resource, resources } from '../kube/resource.ts';
import { seconds } from './operation.ts';

/** What an Event says. */
export interface Notice {
  type: 'Normal' | 'Warning';
  reason: string;
  /** One sentence without secret content. */
  message: string;
}

export const warning = (reason: string, message: string): Notice => ({ type: 'Warning', reason, message });
export const normal = (reason: string, message: string): Notice => ({ type: 'Normal', reason, message });

/** The limit of `events.k8s.io/v1`, so that clients of both Event versions show the whole message. */
export const MAX_LENGTH = 1024;

/**
 * Returns an Event whose name follows from what it reports: a run that is repeated cannot create a second one.
 * @param identity what distinguishes it from the other Events about the object; default: reason and message
 */
export function eventAbout(
  resource: Resource,
  { namespace = '', name, uid = '' }: ObjectMeta,
  { type, reason, message }: Notice,
  now: Date,
  identity?: readonly string[],
): KubeObject {
  const note = message.length > MAX_LENGTH ? `${message.slice(0, MAX_LENGTH - 1)}…` : message;
  const time = seconds(now.getTime());
  return {
    apiVersion: apiVersionOf(resources.events),
    kind: resources.events.kind,
    metadata: { namespace, name: eventName({ name, uid }, identity ?? [reason, note]) },
    involvedObject: { apiVersion: apiVersionOf(resource), kind: resource.kind, namespace, name, uid },
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
export function eventName({ name, uid = '' }: ObjectMeta, identity: readonly string[]): string {
  return `${name}.${hash('sha256', JSON.stringify([...identity, uid])).slice(0, 16)}`;
}

/** Creates an Event, unless a run has done so before. */
export async function createEvent(garden: KubeClient, event: KubeObject, fieldManager: string): Promise<void> {
  await unless(garden.create(resources.events, event, { fieldManager }), AlreadyExistsError);
}
