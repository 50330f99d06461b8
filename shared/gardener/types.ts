import type { KubeObject, ObjectMeta } from '../kube/resource.ts';
import type { ResourceReference } from './references.ts';
import type { Applied, ExtensionState } from './state.ts';

export type OperationType = 'Create' | 'Reconcile' | 'Delete' | 'Migrate' | 'Restore';

/** `status.lastOperation`: the CRD requires all five fields (trap 1). */
export interface LastOperation {
  type: OperationType | 'LiveMigrate';
  state: 'Processing' | 'Succeeded' | 'Error' | 'Failed' | 'Pending' | 'Aborted';
  /** 0..100 */
  progress: number;
  description: string;
  /** RFC 3339 with seconds. */
  lastUpdateTime: string;
}

export interface LastError {
  description: string;
  codes?: string[];
  lastUpdateTime?: string;
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

export type { Applied, Bootstrapped, ImagePlaces, ListedObject, ShootObject } from './state.ts';

export interface ExtensionStatus {
  observedGeneration?: number;
  lastOperation?: LastOperation;
  lastError?: LastError | null;
  conditions?: Condition[];
  providerStatus?: ProviderStatus;
  state?: ExtensionState;
  resources?: ResourceReference[];
}

/** For users and dashboards. A control-plane migration loses it (trap 20); its writers write it again. */
interface ProviderStatus extends Partial<Pick<Applied, 'fluxVersion' | 'syncMode' | 'configHash' | 'warnings'>> {
  /** Written by `readiness`. */
  flux?: FluxStatus;
  [field: string]: unknown;
}

/** What `readiness` writes to `status.providerStatus.flux`. */
export interface FluxStatus {
  /** The config hash of the verdict. */
  configHash: string;
  /** True when source and root Kustomization are Ready in the shoot for that hash; absent parts count as ready. */
  ready: boolean;
  /** Revision that the root Kustomization applied last. */
  appliedRevision?: string | undefined;
  /** One sentence for everything that is not Ready. */
  notReady?: string[] | undefined;
}

export interface Extension extends KubeObject {
  spec: { type: string; class?: string; providerConfig?: unknown };
  status?: ExtensionStatus;
}

/** The parts of a Shoot that are read; any of them may be absent (traps 33, 34). */
export interface Shoot {
  metadata: ObjectMeta;
  spec?: {
    region?: string;
    cloudProfileName?: string;
    cloudProfile?: { name?: string };
    dns?: { domain?: string };
    kubernetes?: { version?: string };
    provider?: { type?: string; workers?: unknown[] };
    hibernation?: { enabled?: boolean };
    networking?: { pods?: string; services?: string; nodes?: string; ipFamilies?: string[] };
    maintenance?: { timeWindow?: { begin?: string; end?: string } };
    extensions?: { type: string; providerConfig?: unknown; disabled?: boolean }[];
    resources?: ResourceReference[];
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

export interface ManagedResource extends KubeObject {
  spec: {
    class?: string;
    secretRefs: { name: string }[];
    keepObjects?: boolean;
    injectLabels?: Record<string, string>;
  };
  status?: {
    observedGeneration?: number;
    conditions?: Condition[];
    resources?: { apiVersion: string; kind: string; namespace?: string; name: string }[];
  };
}

/** The type of our Extension, its name, and the suffix of its finalizer. */
export const EXTENSION_TYPE = 'shoot-flux';
export const FINALIZER = 'extensions.gardener.cloud/shoot-flux';
export const OPERATION_ANNOTATION = 'gardener.cloud/operation';
export const TIMESTAMP_ANNOTATION = 'gardener.cloud/timestamp';
/** Label and value on every ManagedResource and Secret of ours in a control plane. */
export const ORIGIN_LABEL = 'origin';
export const ORIGIN = 'shoot-flux';
/** Name of a control plane's Deployment that writes into its shoot, and of its container. */
export const RESOURCE_MANAGER = 'gardener-resource-manager';
