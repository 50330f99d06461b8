/** How often functions ran for some Shoots. */
export interface RunSummary {
  shoots: number;
  /** All runs together. */
  total: number;
  /** Of the function and the Shoot with most runs. */
  most: number;
  /** Of all Shoots together, by function. */
  byFunction: Record<string, number>;
}

/** Counts the runs that the log of a process reports. */
export interface RunCounts {
  /** Takes a line of the log. */
  read(line: string): void;
  /** Forgets all runs. */
  reset(): void;
  /** Returns the runs for these control planes. */
  of(controlPlanes: readonly string[]): RunSummary;
  /** Changes that were given up since the start, with their error. */
  givenUp: readonly string[];
}

/** Starts to count. */
export function countRuns(): RunCounts {
  const runs = new Map<string, Map<string, number>>();
  const givenUp: string[] = [];
  return {
    givenUp,
    read(line) {
      if (!line.includes('"reconcile finished"')) return;
      const { function: name, key = '', outcome, error } = JSON.parse(line);
      if (outcome === 'dead_letter') givenUp.push(`${name} ${key}: ${error}`);
      const [, controlPlane = ''] = key.split('/');
      const counts = runs.get(controlPlane) ?? new Map<string, number>();
      counts.set(name, (counts.get(name) ?? 0) + 1);
      runs.set(controlPlane, counts);
    },
    reset: () => runs.clear(),
    of(controlPlanes) {
      const counts = controlPlanes.flatMap((name) => [...(runs.get(name) ?? [])]);
      const byFunction: Record<string, number> = {};
      for (const [name, count] of counts) byFunction[name] = (byFunction[name] ?? 0) + count;
      return {
        shoots: controlPlanes.length,
        total: counts.reduce((sum, [, count]) => sum + count, 0),
        most: Math.max(0, ...counts.map(([, count]) => count)),
        byFunction,
      };
    },
  };
}
