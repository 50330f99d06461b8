import { CREATION_REFUSED } from '../../shared/gardener/creation-refused.ts';
import { eventAbout } from '../../shared/gardener/event.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';

/** A sentence for the user, reported as a Kubernetes Event on the ConfigMap. */
export interface Notice {
  type: 'Normal' | 'Warning';
  reason: Reason;
  /** One sentence without secret content. */
  message: string;
}

/** The reasons of the Events. */
export type Reason =
  | 'InvalidConfiguration'
  | 'NotAllowed'
  | 'DeployKey'
  | 'HostKeyTrusted'
  | 'HostKeysMissing'
  | 'InvalidSecret'
  | 'CredentialsMissing'
  | typeof CREATION_REFUSED
  | 'KeyTypeIgnored'
  | 'KeyRotationPrepared'
  | 'KeyRotationCompleted'
  | 'KeyRotationRefused'
  | 'UnknownOperation';

/** Returns whether a notice says that a host key was trusted on first use. */
export const isTrustOnFirstUse = ({ reason }: Notice) => reason === 'HostKeyTrusted';

export const warning = (reason: Reason, message: string): Notice => ({ type: 'Warning', reason, message });
export const normal = (reason: Reason, message: string): Notice => ({ type: 'Normal', reason, message });

/** Returns the Event for a notice. Equal notices about one ConfigMap have the same name, so each is reported once. */
export function eventOf(configMap: KubeObject, notice: Notice, now: Date): KubeObject {
  const { namespace = '', name, uid = '' } = configMap.metadata;
  // `managed-resources` reads it by its name, to say the same in the Shoots that wait.
  const identity = notice.reason === CREATION_REFUSED ? [CREATION_REFUSED] : undefined;
  return eventAbout({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name, uid }, notice, now, identity);
}
