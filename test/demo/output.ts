import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

export type Output = ReturnType<typeof createOutput>;

/**
 * Prints lines with the time since the start and the program that acts.
 * @param color whether the terminal shows colours
 */
export function createOutput(write: (text: string) => void, color: boolean) {
  const started = performance.now();
  const styled = (text: string, style: Style | undefined) =>
    color && style !== undefined ? styleText(style, text, { validateStream: false }) : text;
  const time = () => `${((performance.now() - started) / 1000).toFixed(1)} s`.padStart(7);
  return {
    /** Begins a chapter. */
    chapter: (title: string) => write(`\n${styled(title, 'bold')}\n`),
    /** Prints one event. */
    line(who: string, what: string, style?: Style) {
      write(`${styled(time(), 'dim')}  ${styled(who.padEnd(20), 'cyan')} ${styled(what, style)}\n`);
    },
    /** Prints indented text to read or copy. */
    block: (lines: readonly string[]) => write(lines.map((line) => `${' '.repeat(9)}${line}\n`).join('')),
    table: (rows: readonly (readonly string[])[]) => write(tableText(rows, (text) => styled(text, 'bold'))),
  };
}

/** Formats a table with columns as wide as their widest cell; the first row is the heading. */
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
