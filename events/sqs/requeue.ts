/**
 * When a function that asked for another run in so many seconds gets it: never earlier, at most a quarter (or 1 s)
 * later, on a grid. Without the grid every run for another reason would start one more endless chain of requeues; on
 * it their changes have the same `notBefore`, and the queue's deduplication leaves one.
 */
export function requeueTime(now: Date, afterSeconds: number): Date {
  const gridMs = Math.max(1, Math.ceil(afterSeconds / 4)) * 1000;
  return new Date(Math.ceil((now.getTime() + afterSeconds * 1000) / gridMs) * gridMs);
}
