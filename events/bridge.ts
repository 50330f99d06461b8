import type { ChangeRequest } from '../shared/runtime/change-request.ts';
import type { Log } from '../shared/runtime/log.ts';

/** Takes the changes of a watcher. */
export interface ChangeSender {
  /**
   * Resolves when the queue has accepted all changes. After an error the changes in the error's `unsent`, or else all of
   * them, are sent again.
   */
  send(changes: ChangeRequest[]): Promise<void>;
}

/** How many background changes a transport takes per second, if it delivers in the order of arrival. */
export interface Pace {
  perSecond: number;
  /** The same for functions that send changes on: one change of theirs becomes one for each Shoot of a project. */
  perSecondOfSenders: number;
}

/** Where a watcher sends changes of functions that run elsewhere. */
export interface OpenSender {
  sender: ChangeSender;
  /** How many background changes are sent to it per second. Absent: all at once. */
  pace?: Pace | undefined;
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
