/** One row of the table: a measurement and its limit. */
interface Line {
  what: string;
  unit: 'KB' | 'MB' | 'ms' | 's' | 'requests' | 'messages' | 'events' | 'runs' | 'bytes' | '%';
  /** The limit; absent where a number is only shown. */
  atMost?: number;
}

/** The result of a measurement. */
interface Measured {
  value: number;
  /** How it was measured, in brief. */
  note?: string;
}

/** A line with its result, or with the reason why there is none. */
export type Row = Line & ({ measured: Measured } | { failure: string });

/** Shows progress on the screen. */
export type Progress = (text: string) => void;

/** Measurements that share a setup and are made together. */
export interface Bench {
  name: string;
  lines: Line[];
  /** Never throws: a failure becomes the row of each line. */
  run(progress: Progress): Promise<Row[]>;
}

/** Creates a bench whose measurement returns a result for each of its lines. */
export function bench<Key extends string>(
  name: string,
  lines: Record<Key, Line>,
  measure: (progress: Progress) => Promise<Record<Key, Measured>>,
): Bench {
  const keys = Object.keys(lines) as Key[];
  return {
    name,
    lines: keys.map((key) => lines[key]),
    async run(progress) {
      try {
        const measured = await measure(progress);
        return keys.map((key) => ({ ...lines[key], measured: measured[key] }));
      } catch (error) {
        const failure = error instanceof Error ? error.message : String(error);
        return keys.map((key) => ({ ...lines[key], failure }));
      }
    },
  };
}

/** Returns whether a row stays within its limit; undefined without a limit or a result. */
export function verdictOf(row: Row): boolean | undefined {
  if (row.atMost === undefined || 'failure' in row) return undefined;
  return row.measured.value <= row.atMost;
}
