import { type Row, verdictOf } from './bench.ts';

/** Formats the rows with their limits, one line each. */
export function table(rows: Row[]): string {
  const cells = [['', 'what', 'at most', 'measured', ''], ...rows.map(cellsOf)];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  const lines = cells.map((row) =>
    row
      .map((cell, column) =>
        column === 2 || column === 3 ? cell.padStart(widths[column] ?? 0) : pad(cell, widths, column),
      )
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

function cellsOf(row: Row): string[] {
  const limit = row.atMost === undefined ? '' : `${row.atMost} ${row.unit}`;
  if ('failure' in row) return ['!', row.what, limit, 'none', row.failure];
  return [mark(row), row.what, limit, `${rounded(row.measured.value)} ${row.unit}`, row.measured.note ?? ''];
}

function mark(row: Row): string {
  const verdict = verdictOf(row);
  if (verdict === undefined) return '';
  return verdict ? '✓' : '✗';
}

/** None of the measurements is exact to more than three digits. */
function rounded(value: number): string {
  return value >= 10 ? value.toFixed(0) : value.toFixed(Number.isInteger(value) ? 0 : 1);
}

function pad(cell: string, widths: number[], column: number): string {
  return cell.padEnd(widths[column] ?? 0);
}
