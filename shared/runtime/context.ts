import type { Landscape } from '../config/types.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Cause, ChangeRequest } from './change-request.ts';
import type { ReconcileKey } from './key.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Outcome } from './outcome.ts';

/** Which hosts `knownHosts: scan` may contact. Entries are addresses, address ranges, and host names. */
export interface HostKeyScan {
  /** `on`: all addresses except special ones, such as loopback; `listed`: only what `allow` contains; `off`: none. */
  mode: 'on' | 'listed' | 'off';
  /** Also permits special addresses, if it contains the address itself. */
  allow: readonly string[];
  /** Takes precedence over `allow`. */
  deny: readonly string[];
}

/** The operator's settings for a deployment. */
export interface Settings extends Landscape {
  /** The version of shoot-flux. */
  version: string;
  /** Name of the landscape, shown in comments of deploy keys. Default `gardener`. */
  landscape: string;
  /** The garden's cluster identity; absent: derived from `status.clusterIdentity` of the Shoot. */
  gardenIdentity?: string | undefined;
  /** Names of the seeds that this deployment serves. */
  seeds: string[];
  /** The distribution folder: one folder per Flux release. */
  fluxDistribution: string;
  /** True: a broken Flux marks the user's Shoot unhealthy as well. Default false. */
  shootHealth: boolean;
  /** Which kubeconfig Secret of a control plane is tried first; the internal one works only inside the seed. */
  shootAccess: 'internal' | 'external';
  /** Which hosts `knownHosts: scan` may contact; absent: all except special addresses, such as loopback. */
  hostKeyScan?: HostKeyScan | undefined;
  /** Where Git hosts report pushes, for example `https://flux.example.org`; absent: nowhere. */
  pushUrl?: string | undefined;
}

/** Everything that a function may use besides its key. */
export interface Context {
  /** Returns the client for `garden` or a seed, by the name in the reconcile key. */
  kube(cluster: string): Promise<KubeClient>;
  settings: Settings;
  /** Sends changes to the queues of other functions; returns when the queue has accepted all of them. */
  send(changes: ChangeRequest[]): Promise<void>;
  /**
   * Why this run happens, for the log: several changes of one key collapse into one run, and after a failure only one of
   * them may be redelivered. Decisions follow from the live objects. A cause may only leave out work that other runs are
   * certain to do, at the latest that of the resync.
   */
  causes: Cause[];
  now(): Date;
  log: Log;
  metrics: Metrics;
  /** Aborts shortly before the function's time limit. */
  signal: AbortSignal;
  /**
   * What the last run of this key did that ended the thread of the functions, for example `needed more than 128 MB of
   * memory`. This run only tells the author of the object, so that the work waits for the next attempt.
   */
  endedBefore?: string | undefined;
}

/** A function: stateless and idempotent; may be killed anywhere. */
export type Handler = (key: ReconcileKey, context: Context) => Promise<Outcome>;
