/** One row of the table: what is measured, and the most it may be. */
export interface Line {
  what: string;
  unit: 'KB' | 'MB' | 'ms' | 's' | 'requests';
  /** The limit; absent where a number is only shown. */
  atMost?: number;
}

/** What came out for a line. */
export interface Measured {
  value: number;
  /** How it was measured, in a few words. */
  note?: string;
}

/** A line with its number, or with the reason why there is none. */
export type Row = Line & ({ measured: Measured } | { failure: string });

/** Shows people that the bench makes progress. */
export type Progress = (text: string) => void;

/** Measurements that are made together, because they need the same surroundings. */
export interface Bench {
  name: string;
  lines: Line[];
  /** Never throws: a failure becomes the row of each line. */
  run(progress: Progress): Promise<Row[]>;
}

/** A bench whose measurement has to name every line that it announces. */
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

/** Whether a row holds its limit; undefined where there is none, or no number. */
export function verdictOf(row: Row): boolean | undefined {
  if (row.atMost === undefined || 'failure' in row) return undefined;
  return row.measured.value <= row.atMost;
}
