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
