import { ClusterDownError, type UnreachableError } from '../kube/errors.ts';
import { clusterName } from './key.ts';
import { sleep } from './sleep.ts';

/** Whether a cluster answers. */
export interface ClusterStatus {
  cluster: string;
  isUp: boolean;
  /** Since when; for a cluster that has never been down, since its first call. */
  since: Date;
  /** Why it is down: the last failure. */
  problem?: string;
}

/**
 * Knows which clusters answer: the circuit breaker that the clients of all identities in a process share. A cluster
 * whose calls fail one after the other without any answer is down. Calls to it then fail at once, so that it holds no
 * slot, and one probe at a time asks whether it is back.
 */
export type ClusterHealth = ReturnType<typeof createClusterHealth>;

/** Stands before the calls to one cluster: refuses them while the cluster does not answer, and sees how they end. */
export type CallGuard = ReturnType<ClusterHealth['guard']>;

/** Times in ms, and limits; tests use others. */
export interface HealthOptions {
  /** How many calls in a row without any answer mean that the cluster is down. Default 3. */
  failures?: number;
  /** A call that has waited for so long, while nothing else was answered either, is suspicious. Default 2 s. */
  suspiciousMs?: number;
  /** The first and the longest interval between two probes. Default 1 s and 5 s. */
  probeMs?: [number, number];
  /** A monotonic clock. */
  now?: () => number;
  /** Called when a call to the cluster was answered. */
  onAnswered?: (cluster: string) => void;
}

interface State {
  cluster: string;
  isUp: boolean;
  since: Date;
  problem?: string;
  /** Calls without an answer since the last answer. */
  failures: number;
  answeredAt: number;
  /** When the last of them ended. */
  failedAt: number;
  /** When a call may be the next probe. */
  probeAt: number;
  probes: number;
  isProbing: boolean;
}

/** Creates the health of all clusters of a process; all are up until their calls fail. */
export function createClusterHealth(options: HealthOptions = {}) {
  const { failures: most = 3, suspiciousMs = 2000, probeMs = [1000, 5000] } = options;
  const { now = () => performance.now(), onAnswered } = options;
  const states = new Map<string, State>();
  const listeners = new Set<(cluster: string, isUp: boolean) => void>();
  let suspect: ((cluster: string) => void) | undefined;

  const stateOf = (cluster: string): State => {
    const known = states.get(cluster);
    if (known !== undefined) return known;
    const never = Number.NEGATIVE_INFINITY;
    const fresh = { failures: 0, answeredAt: never, failedAt: never, probeAt: 0, probes: 0, isProbing: false };
    const state: State = { cluster, isUp: true, since: new Date(), ...fresh };
    states.set(cluster, state);
    return state;
  };

  const change = (state: State, problem: string | undefined) => {
    state.isUp = problem === undefined;
    state.since = new Date();
    if (problem === undefined) delete state.problem;
    else state.problem = problem;
    for (const listener of [...listeners]) listener(state.cluster, state.isUp);
  };

  const answered = (state: State) => {
    state.answeredAt = now();
    state.failures = 0;
    state.probes = 0;
    if (!state.isUp) change(state, undefined);
  };

  const down = (state: State, problem: string) => {
    // Twice as long before each probe: 1, 2, 4, 5, 5 s.
    state.probeAt = now() + Math.min(probeMs[1], probeMs[0] * 2 ** Math.min(state.probes, 10));
    state.probes++;
    if (state.isUp) change(state, problem);
    else state.problem = problem;
  };

  const failed = (state: State, begun: number, isProbe: boolean, error: UnreachableError) => {
    // Other calls were answered meanwhile: one API, or one webhook of the cluster hangs.
    if (state.answeredAt > begun) return;
    // The run ended, not the patience with the cluster.
    if (error.reason === 'Aborted' && now() - begun < suspiciousMs) return;
    if (suspect !== undefined) {
      if (state.isUp) suspect(state.cluster);
      else state.problem = error.reason;
      return;
    }
    if (isProbe) return down(state, error.reason);
    // Calls that are refused together and at once are one failure: another API server of the cluster answers later.
    if (now() - begun < suspiciousMs && begun < state.failedAt) return;
    state.failedAt = now();
    state.failures++;
    if (state.isUp && state.failures >= most) down(state, error.reason);
  };

  const onChange = (listener: (cluster: string, isUp: boolean) => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };

  /** Resolves when the cluster goes down or comes back, when the signal aborts, or after the time of a probe. */
  const untilChange = async (cluster: string, signal: AbortSignal) => {
    const ended = new AbortController();
    const unsubscribe = onChange((changed) => changed === cluster && ended.abort());
    await sleep(probeMs[0], AbortSignal.any([signal, ended.signal]));
    unsubscribe();
  };

  const mayProbe = (state: State) => suspect === undefined && !state.isProbing && now() >= state.probeAt;

  /** Returns the call that was sent: exactly one of its methods must be called. */
  const begin = (state: State, call: string) => {
    const isProbe = !state.isUp;
    if (isProbe) {
      if (!mayProbe(state)) throw downError(state, call);
      state.isProbing = true;
    }
    const begun = now();
    const timer = setTimeout(() => {
      if (state.isUp && state.answeredAt <= begun) suspect?.(state.cluster);
    }, suspiciousMs);
    timer.unref();
    const end = () => {
      clearTimeout(timer);
      if (isProbe) state.isProbing = false;
    };
    return {
      /** The cluster has answered, with whatever status. */
      answered(): void {
        end();
        onAnswered?.(state.cluster);
        answered(state);
      },
      /** No connection, or no answer in time. Returns the error to throw instead if the cluster is down now. */
      failed(error: UnreachableError): ClusterDownError | undefined {
        end();
        failed(state, begun, isProbe, error);
        // If the only waiting key also probes, a failure says that the cluster is down, not that the change is bad.
        return state.isUp ? undefined : new ClusterDownError(state.cluster, error.message);
      },
      /** The call ended for another reason, which says nothing about the cluster. */
      dropped: end,
    };
  };

  return {
    isUp: (cluster: string) => states.get(cluster)?.isUp !== false,
    /** Calls the listener when a cluster goes down or comes back. Returns a function that removes the listener. */
    onChange,
    /**
     * Resolves when calls to the cluster make sense: when it is up or, in a process without a prober, when a call may be
     * the probe. Also resolves when the signal aborts; never rejects.
     */
    async untilUp(cluster: string, signal: AbortSignal): Promise<void> {
      const state = stateOf(cluster);
      while (!state.isUp && !signal.aborted && !mayProbe(state)) await untilChange(cluster, signal);
    },
    /** Returns all clusters that were called. */
    status: (): ClusterStatus[] =>
      [...states.values()].map(({ cluster, isUp, since, problem }) => ({
        ...{ cluster, isUp, since },
        ...(problem !== undefined && { problem }),
      })),
    /** Returns what stands before the calls of a client to this cluster. */
    guard(cluster: string) {
      const state = stateOf(cluster);
      return {
        /**
         * @param call for the sentence of the error, for example `GET secrets foo/bar`
         * @throws ClusterDownError while the cluster is down
         */
        begin: (call: string) => begin(state, call),
        /**
         * Calls the listener when the cluster goes down, with a function that returns the error of a call. Returns a function
         * that removes the listener.
         */
        onDown: (listener: (errorOf: (call: string) => ClusterDownError) => void) =>
          onChange((changed, isUp) => {
            if (changed === cluster && !isUp) listener((call) => downError(state, call));
          }),
      };
    },
    /**
     * From now on `suspect` is called when a cluster may be down, at once and again until it answers or `declare` was
     * called; calls are no longer probes, and only `declare` marks a cluster as down. Returns a function that ends this.
     */
    attachProber(prober: (cluster: string) => void): () => void {
      suspect = prober;
      for (const { cluster, isUp } of states.values()) if (!isUp) prober(cluster);
      return () => {
        suspect = undefined;
      };
    },
    /**
     * The verdict of the prober: undefined when the cluster answered, else why it counts as down.
     * @param begun when it was asked: a call that was answered since then says more
     */
    declare(cluster: string, problem: string | undefined, begun = now()): void {
      const state = stateOf(cluster);
      if (problem === undefined) answered(state);
      // For example one of two addresses is dead: the others' calls must not be cut off because the probe met that one.
      else if (!state.isUp || state.answeredAt <= begun) down(state, problem);
    },
    /** The clock of `declare`. */
    now,
  };
}

function downError({ cluster, since, problem }: State, call: string): ClusterDownError {
  const begun = since.toISOString().replace(/\.\d+/, '');
  const state = `${clusterName(cluster)} has not answered since ${begun} (${problem})`;
  return new ClusterDownError(cluster, `${call}: ${state}; this continues as soon as it answers`);
}
