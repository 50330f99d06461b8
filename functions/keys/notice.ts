/** A sentence for the user, reported as a Kubernetes Event on the ConfigMap. */
export interface Notice {
  type: 'Normal' | 'Warning';
  reason: Reason;
  /** One sentence without secret content. */
  message: string;
}

export type Reason =
  | 'InvalidConfiguration'
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

export const warning = (reason: Reason, message: string): Notice => ({ type: 'Warning', reason, message });
export const normal = (reason: Reason, message: string): Notice => ({ type: 'Normal', reason, message });
