import { RetryableError } from '../../shared/errors.ts';

/** A function's time, in seconds; its signal aborts a little earlier. */
export const FUNCTION_TIMEOUT_SECONDS = 10;

/** How long before the end of the function's time its signal aborts: enough to report which messages to redeliver. */
export const ABORT_EARLY_MS = 1_500;

/** A run that ignores the signal is abandoned after this. */
const GRACE_MS = 500;

/** Returns the run's result. @throws RetryableError soon after the signal has aborted */
export async function withinTime<T>(run: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: overdue, reject } = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = () => {
    const error = new RetryableError('The run exceeded the time limit of the function; it is retried.');
    timer = setTimeout(() => reject(error), GRACE_MS);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([run, overdue]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    clearTimeout(timer);
  }
}
