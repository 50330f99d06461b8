import type { ShootFluxError } from '../errors.ts';

/** Why a call was stopped; `down` with the error of its cluster. */
export type Stop = { by: 'limit' | 'run' | 'caller' } | { by: 'down'; error: ShootFluxError };

/** The time that a call has. */
export type CallLimit = ReturnType<typeof beginCall>;

/** Default time limit of a call: below the functions' 10 s. */
export const CALL_MS = 8000;

/** Default time limit for TCP and TLS, with the name's resolution. */
export const CONNECT_MS = 2000;

/** Begins a call that is stopped after the client's time limit, with the client's signal and with the caller's. */
export function beginCall(
  { signal: run, timeoutMs = CALL_MS }: { signal?: AbortSignal; timeoutMs?: number },
  caller?: AbortSignal,
) {
  const controller = new AbortController();
  const stop = (reason: Stop) => controller.abort(reason);
  const ofRun = () => stop({ by: 'run' });
  const ofCaller = () => stop({ by: 'caller' });
  const lift = expiry(timeoutMs, () => stop({ by: 'limit' }));
  run?.addEventListener('abort', ofRun);
  caller?.addEventListener('abort', ofCaller);
  if (caller?.aborted) ofCaller();
  if (run?.aborted) ofRun();
  const end = () => {
    lift();
    run?.removeEventListener('abort', ofRun);
    caller?.removeEventListener('abort', ofCaller);
  };
  return {
    /** Its reason is a `Stop`. */
    signal: controller.signal,
    stop,
    /** From now on the call may take any time: what a watch answers has begun. */
    lift,
    end,
  };
}

/** Does the work of a call within its limit. */
export async function withCallLimit<T>(
  options: Parameters<typeof beginCall>[0],
  work: (limit: CallLimit) => Promise<T>,
): Promise<T> {
  const limit = beginCall(options);
  try {
    return await work(limit);
  } finally {
    limit.end();
  }
}

/**
 * Calls `expired` after the time, unless the returned function is called before. Counts the time in quarters: a process
 * that was busy finds what has arrived meanwhile before the next one ends.
 */
export function expiry(ms: number, expired: () => void): () => void {
  let quarters = 0;
  const timer = setTimeout(() => {
    quarters++;
    if (quarters < 4) timer.refresh();
    else expired();
  }, ms / 4);
  return () => clearTimeout(timer);
}
