/** What is sampled of the product's process. */
export interface Sample {
  /** Seconds since the start. */
  at: number;
  /** Resident memory and used heap, in MB. */
  residentMb: number;
  heapMb: number;
  /** Sockets, timers and other resources that are open. */
  handles: number;
  /** Changes that wait in all queues. */
  waiting: number;
}

/** What a soak allows. */
export interface Allowed {
  /** Growth of the smallest used heap, in MB. */
  heapMb: number;
  /** Growth of the smallest resident memory, in MB. */
  residentMb: number;
  handles: number;
}

/**
 * Compares the second quarter of the samples with the last one, and returns one sentence for everything that has grown.
 * The first quarter is the start, in which caches fill. The smallest value of a quarter is used: garbage that waits for
 * its collection is no growth.
 */
export function growth(samples: readonly Sample[], allowed: Allowed): string[] {
  const quarter = Math.floor(samples.length / 4);
  if (quarter < 2) return [`There are only ${samples.length} samples; at least 8 are needed.`];
  const early = samples.slice(quarter, 2 * quarter);
  const late = samples.slice(-quarter);
  const least = (of: readonly Sample[], field: keyof Sample) => Math.min(...of.map((sample) => sample[field]));
  return (Object.keys(allowed) as (keyof Allowed)[]).flatMap((field) => {
    const [from, to] = [least(early, field), least(late, field)];
    if (to - from <= allowed[field]) return [];
    return [`${field} grew from ${from.toFixed(0)} to ${to.toFixed(0)}; ${allowed[field]} more are allowed.`];
  });
}
