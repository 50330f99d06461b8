// A transport carries changes to functions that run elsewhere: docs/add-a-transport.md.
import { errorMessage, RetryableError } from '../shared/errors.ts';
import type { ChangeRequest } from '../shared/runtime/change-request.ts';
import type { Log } from '../shared/runtime/log.ts';
import type { DeadLetters } from './queue/dead-letters.ts';

/** The side of a transport that takes changes. */
export interface ChangeSender {
  /** Resolves when the transport has accepted all changes. After an error all of them are sent again. */
  send(changes: ChangeRequest[]): Promise<void>;
}

/** What functions behind a transport need of it. */
export interface Transport extends ChangeSender {
  /** Sends a change that is due in so many seconds, as its cause says too. Until then it holds up no other change. */
  retryLater(change: ChangeRequest, seconds: number): Promise<void>;
}

/** Sends changes one by one. @throws RetryableError that says how many the transport has not accepted */
export async function sendEach(
  transport: string,
  changes: ChangeRequest[],
  send: (change: ChangeRequest) => Promise<void>,
): Promise<void> {
  const results = await Promise.allSettled(changes.map(send));
  const [failure, ...others] = results.filter((result) => result.status === 'rejected');
  if (failure === undefined) return;
  const count = `${others.length + 1} of ${changes.length} changes`;
  const cause = failure.reason;
  throw new RetryableError(`${transport} did not accept ${count}: ${errorMessage(cause)}`, { cause });
}

/** Where a watcher sends changes of functions that run elsewhere. */
export interface OpenSender {
  sender: ChangeSender;
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
