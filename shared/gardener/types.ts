import type { KubeObject, ObjectMeta } from '../kube/resource.ts';
import type { ResourceReference } from './references.ts';

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

/** The record: `managed-resources` writes it to `status.state.applied` of the Extension before it writes anything else. */
export interface Applied {
  /** Hash of the effective configuration and of the Flux release; every verdict names it. */
  configHash: string;
  /** Pinned release, for example `v2.9.4`. */
  fluxVersion: string;
  /** The newest release whose CRDs the shoot has accepted completely: never installed below it (decision 12). */
  installed?: string | undefined;
  namespace: string;
  /** True when the flux namespace is ours to remove. */
  ownsNamespace: boolean;
  components: string[];
  syncMode: 'Once' | 'ManifestsOnly' | 'Reconcile';
  deletionPolicy?: 'Orphan' | 'Uninstall';
  /** Hash of what users had written when it was accepted, where the landscape has defaults or a policy (decision 43). */
  layersHash?: string | undefined;
  /** What `flux-config` said, where a rollout decides when a Shoot follows it (decision 63). */
  revision?: string | undefined;
  /** With a revision: the copies of Secrets of the project, for example `flux-sops flux-system/flux-sops`. */
  projectCopies?: string[] | undefined;
  /** With `flux-config`: the Secrets of the project that were there, besides `flux-source`. */
  projectSecrets?: string[] | undefined;
  /** Whether the ConfigMap contributed; its later absence is then reported instead of followed. */
  fromFluxConfig: boolean;
  /** ManagedResource name -> name of the Secret with its content. */
  managedResources: Record<string, string>;
  /** Objects that the shoot gets, `kind.group/namespace/name`, by ManagedResource name. */
  objects: Record<string, string[]>;
  /** True while installed objects may carry the protection from the user's Kustomizations (decision 51). */
  protected?: true | undefined;
  /** The configured source in the shoot, when there is one. */
  source?: ShootObject | undefined;
  /** The root Kustomization in the shoot, when there is one. */
  kustomization?: ShootObject | undefined;
  /** The other configured objects for Flux of which a controller reports whether they are Ready. */
  others?: ListedObject[] | undefined;
  /** Pending removal: Kustomizations and HelmReleases that are suspended before they are dropped. */
  leaving?: string[] | undefined;
  /**
   * After a control-plane migration, until everything is applied: refs of objects that the former seed has applied and the
   * configuration no longer has. They are deleted then, and stay recorded until they are gone.
   */
  surplus?: string[] | undefined;
  /** RFC 3339: since when we remove Flux from the shoot; all attempts together have one deadline. */
  removalBegan?: string | undefined;
  /** Hash of the copied Secrets that Flux in the shoot has been asked to take up. */
  copiesHash?: string | undefined;
  /** Identity of the requests of users that Flux in the shoot has been asked to follow. */
  reconcileAt?: string | undefined;
  /** Where the configuration decides from where images are pulled; absent: nowhere, or the installation is released. */
  imagePlaces?: ImagePlaces | undefined;
  /** One sentence for each field of the configuration that is left out; absent: none. */
  warnings?: string[] | undefined;
  /** An error in a part that is out of scope, or the reason why the last applied objects are kept; with the remedy. */
  problem?: string | undefined;
}

/** Names an object in the shoot by what an API request needs. */
export interface ShootObject {
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  /** Where the user has written it, if neither in keys of `flux-config` nor as `template` of a providerConfig. */
  place?: ObjectPlace | undefined;
  /** Where patches set fields of the root Kustomization, by their paths in the object. */
  patched?: Record<string, ObjectPlace> | undefined;
}

/** An object of the configuration and the path in it. */
interface ObjectPlace {
  object: string;
  path: string;
}

/** Options of the installation that decide from where images are pulled, and where they are written. */
export type ImagePlaces = { [Option in 'registry' | 'imagePullSecret' | 'patches']?: ObjectPlace };

/** An object from a list of the configuration. */
export interface ListedObject extends ShootObject {
  place: ObjectPlace;
}

/** What `sync-mode` records in `status.state.bootstrapped`: survives a control-plane migration. */
export interface Bootstrapped {
  /** RFC 3339. */
  at: string;
  fluxVersion: string;
  configHash: string;
}

export interface ExtensionStatus {
  observedGeneration?: number;
  lastOperation?: LastOperation;
  lastError?: LastError | null;
  conditions?: Condition[];
  providerStatus?: ProviderStatus;
  state?: {
    applied?: Applied;
    bootstrapped?: Bootstrapped;
    /**
     * RFC 3339: since when the operation has been failing. `managed-resources` writes it, because the time of an error
     * changes with its words.
     */
    failingSince?: string;
    /** Why the Flux in the shoot is left alone: others manage it. One sentence. */
    foreign?: string;
    /** The Flux release of an upgrade that was asked for and of which nothing is recorded yet. */
    upgradingTo?: string;
    /** Refs of the objects that an adoption protects, until the record has them. */
    adopting?: string[];
    /** True: the reported error is about a configuration that is not applied. Only where the project has a rollout. */
    unapplied?: boolean;
    [field: string]: unknown;
  };
  resources?: ResourceReference[];
}

/** For users and dashboards. A control-plane migration loses it (trap 20); its writers write it again. */
export interface ProviderStatus {
  /** These four summarise `state.applied`. */
  fluxVersion?: string;
  syncMode?: Applied['syncMode'];
  configHash?: string;
  warnings?: string[];
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
    networking?: { pods?: string; services?: string; nodes?: string };
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
  /** Paths in the Shoot that have too many values and were not read; absent: none. */
  oversized?: string[];
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
