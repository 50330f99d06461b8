import type { ShootFluxError } from '../errors.ts';

/** Why a call was stopped; `turn`: other answers wait; `down` with the error of its cluster. */
export type Stop = { by: 'limit' | 'run' | 'caller' | 'turn' } | { by: 'down'; error: ShootFluxError };

/** The time that a call has. */
export interface CallLimit {
  /** Its reason is a `Stop`. */
  signal: AbortSignal;
  /** More of the answer has arrived: with an idle limit, the time starts again. */
  progressed(): void;
  stop(reason: Stop): void;
}

/** Default time limit of a call: below the functions' 10 s. */
export const CALL_MS = 8000;

/** A list that is read item by item may take so long as long as it makes progress; page tokens expire after five minutes. */
const LONGEST_LIST_MS = 240_000;

/**
 * Runs `work` with a signal that aborts after the client's time limit, with the client's signal and with `signal`.
 * @param isIdleLimit the time limit counts from the last progress
 */
export async function withCallLimit<T>(
  { signal: run, timeoutMs = CALL_MS }: { signal?: AbortSignal; timeoutMs?: number },
  work: (limit: CallLimit) => Promise<T>,
  { isIdleLimit = false, signal }: { isIdleLimit?: boolean; signal?: AbortSignal } = {},
): Promise<T> {
  const controller = new AbortController();
  const stop = (reason: Stop) => controller.abort(reason);
  const ofRun = () => stop({ by: 'run' });
  const ofCaller = () => stop({ by: 'caller' });
  const limits = isIdleLimit
    ? [expiry(timeoutMs, () => stop({ by: 'limit' })), expiry(LONGEST_LIST_MS, () => stop({ by: 'limit' }))]
    : [expiry(timeoutMs, () => stop({ by: 'limit' }))];
  run?.addEventListener('abort', ofRun);
  signal?.addEventListener('abort', ofCaller);
  if (signal?.aborted) ofCaller();
  if (run?.aborted) ofRun();
  try {
    const progressed = isIdleLimit ? () => limits[0]?.restart() : () => {};
    return await work({ signal: controller.signal, progressed, stop });
  } finally {
    for (const { end } of limits) end();
    run?.removeEventListener('abort', ofRun);
    signal?.removeEventListener('abort', ofCaller);
  }
}

/** A timer that can start again, and that does not count time in which this process was busy with something else. */
interface Expiry {
  restart(): void;
  end(): void;
}

/** The parts of a time limit. */
const PARTS = 4;

/**
 * Calls `expired` after the time, which is counted in parts: a block of the event loop uses up one of them, however long
 * it is, and the others suffice for an answer, or for a TLS handshake, which takes several turns. After a block timers
 * come first, although the answer may have arrived: one more turn reads it.
 */
export function expiry(ms: number, expired: () => void): Expiry {
  let turn: NodeJS.Immediate | undefined;
  let parts = 0;
  const timer = setTimeout(() => {
    parts++;
    if (parts < PARTS) timer.refresh();
    else turn = setImmediate(expired);
  }, ms / PARTS);
  return {
    restart() {
      clearImmediate(turn);
      parts = 0;
      timer.refresh();
    },
    end() {
      clearImmediate(turn);
      clearTimeout(timer);
    },
  };
}
