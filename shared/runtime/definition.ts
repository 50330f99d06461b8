import type { KubeObject, Resource } from '../kube/resource.ts';
import type { ReconcileKey } from './key.ts';

/** One rule of a Role, as in rbac.authorization.k8s.io/v1. */
export interface PolicyRule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
  resourceNames?: string[];
}

/** Returns the rule that permits verbs on a resource. @param resourceNames none: on all objects */
export function rule({ group, plural }: Resource, verbs: string[], ...resourceNames: string[]): PolicyRule {
  return { apiGroups: [group], resources: [plural], verbs, ...(resourceNames.length > 0 && { resourceNames }) };
}

/** Which objects wake a function. */
export interface Subscription {
  /** The garden, or every seed that is served. */
  in: 'garden' | 'seed';
  resource: Resource;
  /** Only objects of this name (a narrow watch: `metadata.name` field selector). */
  fieldSelector?: string;
  labelSelector?: string;
  /** True: only metadata leaves the API server; for Secrets always. */
  metadataOnly?: boolean;
  /** Selects among the listed objects; default all. */
  matches?(object: KubeObject): boolean;
  /**
   * Returns the fields that wake the function, as plain data. The watcher remembers a fingerprint of them; a change of
   * any other field wakes no function. Presence and deletion are always part of the fingerprint.
   */
  wakes(object: KubeObject): unknown;
  /**
   * Returns which versions of an object are news; default all. Other versions never wake the function, and the next
   * version that is news always does: an annotation that asks for work is news, its removal is not.
   */
  isNews?(object: KubeObject): boolean;
  /** Returns true while gardenlet or a user waits for what the object asks for: its changes go first. Default: no. */
  isAwaited?(object: KubeObject): boolean;
  /**
   * How long a change may wait for others of its key, so that one run handles all of them. Default: the watcher's
   * debounce time, some milliseconds. A deletion never waits.
   */
  mayWaitMs?: number;
  /**
   * True: a change wakes the function only if another of its subscriptions has an object with that key. The first object
   * of a key must wake the function, which then reads what it needs: so no change is lost.
   */
  onlyKnownKeys?: boolean;
  /** Returns the reconcile keys of an object; `cluster` is where it was seen. */
  keys(object: KubeObject, cluster: string): ReconcileKey[];
}

/** The `keys` of a subscription to the objects that the function works on. */
export const ownKey: Subscription['keys'] = ({ metadata: { namespace = '', name } }, cluster) => [
  { cluster, namespace, name },
];

/**
 * The basics of every function. Its definition is the single source for watcher, queues, Lambdas, webhook
 * configurations and RBAC. Lives in `functions/<name>/function.ts` as `definition`;
 * the code is `handler` in `functions/<name>/handler.ts`.
 */
export interface FunctionBasics {
  /** Equals the folder's name. */
  name: string;
  /** One sentence for docs and consoles. */
  description: string;
  rights: { garden: PolicyRule[]; seed: PolicyRule[] };
}

/** A function that takes changes from its queue. Functions that answer requests have a `WebhookDefinition`. */
export interface FunctionDefinition extends FunctionBasics {
  subscriptions: Subscription[];
  /** True if the hourly resync sends this function's keys. */
  resync: boolean;
  /** True if the function sends changes to other functions. */
  sends: boolean;
}
