import { hash } from 'node:crypto';
import { seconds } from '../../shared/gardener/operation.ts';
import { apiVersionOf, type KubeObject, resources } from '../../shared/kube/resource.ts';

/** A sentence for the user, reported as a Kubernetes Event on the ConfigMap. */
export interface Notice {
  type: 'Normal' | 'Warning';
  reason: Reason;
  /** One sentence without secret content. */
  message: string;
}

export type Reason =
  | 'InvalidConfiguration'
  | 'NotAllowed'
  | 'DeployKey'
  | 'HostKeyTrusted'
  | 'HostKeysMissing'
  | 'InvalidSecret'
  | 'CredentialsMissing'
  | 'KeyTypeIgnored'
  | 'KeyRotationPrepared'
  | 'KeyRotationCompleted'
  | 'KeyRotationRefused'
  | 'UnknownOperation';

/** Returns whether a notice says that a host key was trusted on first use. */
export const isTrustOnFirstUse = ({ reason }: Notice) => reason === 'HostKeyTrusted';

export const warning = (reason: Reason, message: string): Notice => ({ type: 'Warning', reason, message });
export const normal = (reason: Reason, message: string): Notice => ({ type: 'Normal', reason, message });

/** The limit of `events.k8s.io/v1`, so that clients of both Event versions show the whole message. */
const MAX_LENGTH = 1024;

/** Returns the Event for a notice. Equal notices about one ConfigMap have the same name, so each is reported once. */
export function eventOf(configMap: KubeObject, { type, reason, message }: Notice, now: Date): KubeObject {
  const { namespace = '', name, uid = '' } = configMap.metadata;
  const note = message.length > MAX_LENGTH ? `${message.slice(0, MAX_LENGTH - 1)}…` : message;
  const time = seconds(now.getTime());
  return {
    apiVersion: apiVersionOf(resources.events),
    kind: resources.events.kind,
    metadata: { namespace, name: `${name}.${hash('sha256', JSON.stringify([reason, note, uid])).slice(0, 16)}` },
    involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', namespace, name, uid },
    type,
    reason,
    message: note,
    source: { component: 'shoot-flux' },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
}
