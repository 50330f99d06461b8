/** One row of the table: a measurement and its limit. */
interface Line {
  what: string;
  unit: 'KB' | 'MB' | 'ms' | 's' | 'requests' | '%';
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

/** Formats the rows with their limits, one line each. */
export function table(rows: Row[]): string {
  const cells = [['', 'what', 'at most', 'measured', ''], ...rows.map(cellsOf)];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  const lines = cells.map((row) =>
    row
      .map((cell, column) =>
        column === 2 || column === 3 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

function cellsOf(row: Row): string[] {
  const limit = row.atMost === undefined ? '' : `${row.atMost} ${row.unit}`;
  if ('failure' in row) return ['!', row.what, limit, 'none', row.failure];
  const { value, note = '' } = row.measured;
  const mark = row.atMost === undefined ? '' : value <= row.atMost ? '✓' : '✗';
  return [mark, row.what, limit, `${rounded(value)} ${row.unit}`, note];
}

/** None of the measurements is exact to more than three digits. */
function rounded(value: number): string {
  return value >= 10 ? value.toFixed(0) : value.toFixed(Number.isInteger(value) ? 0 : 1);
}
