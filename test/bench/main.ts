import { availableParallelism, loadavg } from 'node:os';
import { relative } from 'node:path';
import { parseArgs } from 'node:util';
import { type Bench, type Row, table } from './bench.ts';

const help = `Usage:
  npm run bench -- [options]

Measure size, speed and requests of the product, and print each result beside its limit.

Options:
  --only TEXT  Only benches and lines whose name contains the text; may be given several times.
  --help       Show this help.

Exit codes: 0 everything was measured, even if a limit is exceeded; 1 a measurement failed; 2 wrong usage.
`;

/** @returns the exit code */
async function main(args: string[]): Promise<number> {
  const options = readOptions(args);
  if (options === undefined) return 2;
  if (options.help === true) {
    process.stdout.write(help);
    return 0;
  }
  // Imported here because it loads the whole product.
  const { benches, fluxReleases } = await import('./benches.ts');
  const chosen = select(benches, options.only ?? []);
  if (chosen.length === 0) {
    process.stderr.write(`No bench or line contains ${(options.only ?? []).join(' or ')} in its name.\n`);
    return 2;
  }
  process.stderr.write(`Flux releases: ${relative(process.cwd(), fluxReleases)}\n`);
  warnOfLoad();
  const rows: Row[] = [];
  for (const bench of chosen) {
    const started = performance.now();
    rows.push(...(await bench.run((text) => process.stderr.write(`  ${bench.name}: ${text}\n`))));
    process.stderr.write(`${bench.name}: ${((performance.now() - started) / 1000).toFixed(0)} s\n`);
  }
  process.stdout.write(`\n${table(rows)}`);
  const failed = rows.filter((row) => 'failure' in row);
  for (const { what } of failed) process.stderr.write(`Not measured: ${what}\n`);
  return failed.length > 0 ? 1 : 0;
}

function readOptions(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        only: { type: 'string', multiple: true },
        help: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${help}`);
    return undefined;
  }
}

/** Warns when other programs use the machine. */
function warnOfLoad(): void {
  const [load = 0] = loadavg();
  if (load < 0.5) return;
  const cores = availableParallelism();
  process.stderr.write(
    `Other programs use this machine (load ${load.toFixed(1)}, ${cores} cores): times are longer than on a quiet one.\n`,
  );
}

/** Selects benches by their names or the names of their lines. */
function select(all: Bench[], only: string[]): Bench[] {
  if (only.length === 0) return all;
  const texts = only.map((text) => text.toLowerCase());
  return all.filter(({ name, lines }) =>
    [name, ...lines.map(({ what }) => what)].some((has) => texts.some((text) => has.toLowerCase().includes(text))),
  );
}

process.exitCode = await main(process.argv.slice(2));
