import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Where the demo writes: lines for people, with the time since the start and who did it. */
export interface Output {
  /** A new chapter. */
  chapter(title: string): void;
  /** One thing that happened. */
  line(who: string, what: string, style?: Style): void;
  /** Something to read or copy, indented. */
  block(lines: readonly string[]): void;
  table(rows: readonly (readonly string[])[]): void;
}

/** @param color whether the reader's terminal shows colours */
export function createOutput(write: (text: string) => void, color: boolean): Output {
  const started = performance.now();
  const styled = (text: string, style: Style | undefined) =>
    color && style !== undefined ? styleText(style, text, { validateStream: false }) : text;
  const time = () => `${((performance.now() - started) / 1000).toFixed(1)} s`.padStart(7);
  return {
    chapter: (title) => write(`\n${styled(title, 'bold')}\n`),
    line(who, what, style) {
      write(`${styled(time(), 'dim')}  ${styled(who.padEnd(20), 'cyan')} ${styled(what, style)}\n`);
    },
    block: (lines) => write(lines.map((line) => `${' '.repeat(9)}${line}\n`).join('')),
    table: (rows) => write(tableText(rows, (text) => styled(text, 'bold'))),
  };
}

/** Columns as wide as their widest cell; the first row is the heading. */
export function tableText(rows: readonly (readonly string[])[], heading: (text: string) => string = (text) => text) {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return lines.map((line, index) => `  ${index === 0 ? heading(line) : line}\n`).join('');
}
