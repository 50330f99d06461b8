import type { KubeObject, Resource } from '../kube/resource.ts';
import type { ReconcileKey } from './key.ts';

/** One rule of a Role, as in rbac.authorization.k8s.io/v1. */
export interface PolicyRule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
  resourceNames?: string[];
}

/** What a function wants to hear about. */
export interface Subscription {
  /** The garden, or every seed that is served. */
  in: 'garden' | 'seed';
  resource: Resource;
  /** Only objects of this name (a narrow watch: `metadata.name` field selector). */
  fieldSelector?: string;
  labelSelector?: string;
  /** True: only metadata leaves the API server; for Secrets always. */
  metadataOnly?: boolean;
  /** Which of the listed objects count; default all. */
  matches?(object: KubeObject): boolean;
  /**
   * The fields that wake the function, as plain data: the watcher remembers a fingerprint of it, and a change of any
   * other field wakes nobody. Presence and deletion are always part of the fingerprint.
   */
  wakes(object: KubeObject): unknown;
  /**
   * Which versions of an object are news at all; default all. The others wake nobody, whatever changed, and the next
   * one that is news wakes whatever it says: an annotation that asks for work is news, its removal is none.
   */
  isNews?(object: KubeObject): boolean;
  /**
   * How long a change may wait for others of its key, where one run will do for all of them; default: not longer than
   * the watcher gathers any changes, some milliseconds. A deletion never waits.
   */
  mayWaitMs?: number;
  /** The reconcile keys that an object stands for; `cluster` is where it was seen. */
  keys(object: KubeObject, cluster: string): ReconcileKey[];
}

/**
 * What every function has, whatever wakes it. The single source of what a function is: watcher, queues, Lambdas,
 * webhook configurations, Triggers and RBAC follow from it. Lives in `functions/<name>/function.ts` as `definition`;
 * the code is `handler` in `functions/<name>/handler.ts`.
 */
export interface FunctionBasics {
  /** Equals the folder's name. */
  name: string;
  /** One sentence for docs and consoles. */
  description: string;
  rights: { garden: PolicyRule[]; seed: PolicyRule[] };
}

/** A function that takes changes from its queue; one that answers requests is a `WebhookDefinition`. */
export interface FunctionDefinition extends FunctionBasics {
  subscriptions: Subscription[];
  /** Whether the watcher's resync trickles this function's keys too. */
  resync: boolean;
  /** Whether the function sends changes to other functions (then its bundle contains the SQS client). */
  sends: boolean;
  /** `standard` for the delay queue; everything else is FIFO. Default `fifo`. */
  queue?: 'fifo' | 'standard';
}
