import type { KubeObject, ObjectMeta } from '../client/objects.ts';

/** The parts of Gardener's API that the landscape reads and writes. */

export interface LastOperation {
  type: 'Create' | 'Reconcile' | 'Delete' | 'Migrate' | 'Restore' | 'LiveMigrate';
  state: 'Processing' | 'Succeeded' | 'Error' | 'Failed' | 'Pending' | 'Aborted';
  /** 0..100 */
  progress: number;
  description: string;
  /** RFC 3339 with seconds. */
  lastUpdateTime: string;
}

export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown' | 'Progressing';
  reason: string;
  message: string;
  lastTransitionTime: string;
  lastUpdateTime: string;
  codes?: string[];
}

export interface Shoot {
  metadata: ObjectMeta;
  spec?: {
    region?: string;
    cloudProfile?: { name?: string };
    dns?: { domain?: string };
    kubernetes?: { version?: string };
    provider?: { type?: string; workers?: unknown[] };
    hibernation?: { enabled?: boolean };
    networking?: { pods?: string; services?: string; nodes?: string };
    extensions?: { type: string; providerConfig?: unknown; disabled?: boolean }[];
    seedName?: string;
    purpose?: string;
  };
  status?: {
    technicalID?: string;
    uid?: string;
    clusterIdentity?: string;
    hibernated?: boolean;
    lastOperation?: LastOperation;
    seedName?: string;
  };
}

export interface Cluster extends KubeObject {
  spec: { shoot: Shoot; seed?: KubeObject | null; cloudProfile?: KubeObject | null };
}

export interface ExtensionStatus {
  observedGeneration?: number;
  lastOperation?: LastOperation;
  lastError?: { description: string; codes?: string[]; lastUpdateTime?: string } | null;
  conditions?: Condition[];
  providerStatus?: Record<string, unknown>;
  state?: Record<string, unknown>;
  resources?: unknown[];
}

export interface Extension extends KubeObject {
  spec: { type: string; class?: string; providerConfig?: unknown };
  status?: ExtensionStatus;
}

export interface ManagedResource extends KubeObject {
  spec: {
    class?: string;
    secretRefs: { name: string }[];
    keepObjects?: boolean;
  };
  status?: {
    observedGeneration?: number;
    conditions?: Condition[];
    resources?: { apiVersion: string; kind: string; namespace?: string; name: string }[];
  };
}

/** The one extension that the landscape's gardenlet knows: its type, and the name of its Extensions. */
export const EXTENSION_TYPE = 'shoot-flux';
export const OPERATION_ANNOTATION = 'gardener.cloud/operation';
export const TIMESTAMP_ANNOTATION = 'gardener.cloud/timestamp';
