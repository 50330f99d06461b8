import type { ChangeRequest } from '../shared/runtime/change-request.ts';
import type { FunctionDefinition } from '../shared/runtime/definition.ts';
import type { Log } from '../shared/runtime/log.ts';
import type { ProcessDependencies, QueueFunction } from './run/runner.ts';

/** Takes the changes of a watcher. */
export interface ChangeSender {
  /**
   * Resolves when the queue has accepted all changes. After an error the changes in the error's `unsent`, or else all of
   * them, are sent again.
   */
  send(changes: ChangeRequest[]): Promise<void>;
}

/** Where a watcher sends changes of functions that run elsewhere. */
export interface OpenSender {
  sender: ChangeSender;
  /** Shows the operator of the functions that these clusters are watched. Absent: nothing there takes it. */
  startHeartbeat?(watched: WatchedHeartbeat): { stop(): Promise<void> };
  /** Closes its connections; stop the watcher first. */
  stop(): Promise<void>;
}

/** The clusters of a watcher, and whether it makes progress. */
export interface WatchedHeartbeat {
  clusters: string[];
  alive(): boolean;
  log: Log;
}

/** Carries changes from the watcher to the functions in one process. */
export interface Bridge {
  sender: ChangeSender;
  /** Runs functions for the changes in their queues. */
  start(
    functions: QueueFunction[],
    dependenciesOf: (definition: FunctionDefinition) => ProcessDependencies,
    options?: RunOptions,
  ): Running;
  /** Closes the queues; stop the functions first. */
  stop(): Promise<void>;
}

/** How functions are run. */
export interface RunOptions {
  /** A function's time. Default 10. */
  timeoutSeconds?: number;
}

/** Functions that run. */
export interface Running {
  /** Returns false if something is stuck and only a restart helps. */
  alive?(): boolean;
  /**
   * Starts no more runs, and waits for those under way until the deadline.
   * @param deadlineMs default: a second more than the function's time
   */
  stop(deadlineMs?: number): Promise<void>;
}
