// A transport carries changes to functions that run elsewhere: docs/add-a-transport.md.
import { errorMessage, RetryableError } from '../shared/errors.ts';
import type { ChangeRequest } from '../shared/runtime/change-request.ts';
import type { Log } from '../shared/runtime/log.ts';
import type { DeadLetters } from './queue/dead-letters.ts';

/** The side of a transport that takes changes. */
export interface ChangeSender {
  /**
   * Resolves when the transport has accepted all changes. After an error the changes in the error's `unsent`, or else all
   * of them, are sent again.
   */
  send(changes: ChangeRequest[]): Promise<void>;
}

/** What functions behind a transport need of it. */
export interface Transport extends ChangeSender {
  /** Sends a change that is due in so many seconds, as its cause says too. Until then it holds up no other change. */
  retryLater(change: ChangeRequest, seconds: number): Promise<void>;
}

/** A transport did not accept these changes: they must be sent again. */
export class UnsentError extends RetryableError {
  override name = 'UnsentError';
  readonly unsent: ChangeRequest[];

  /** @param transport begins the sentence, for example `SQS` */
  constructor(transport: string, unsent: ChangeRequest[], total: number, cause: unknown) {
    super(`${transport} did not accept ${unsent.length} of ${total} changes: ${errorMessage(cause)}`, { cause });
    this.unsent = unsent;
  }
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
  /** Lists the changes that were given up, if this process keeps them. */
  deadLetters?: DeadLetters['list'];
  /** Closes its connections; stop the watcher first. */
  stop(): Promise<void>;
}

/** What a watcher shows of itself. */
export interface WatchedHeartbeat {
  /** The garden, seeds, or both. */
  clusters: string[];
  /** Whether it makes progress. While this is false nothing is sent, so that the alarm of each cluster goes off. */
  alive(): boolean;
  log: Log;
}
