import { availableParallelism, loadavg } from 'node:os';
import { relative } from 'node:path';
import { parseArgs } from 'node:util';
import type { Bench, Row } from './bench.ts';
import { verdictOf } from './bench.ts';
import { table } from './table.ts';

const help = `Usage:
  npm run bench -- [options]

Measure the numbers of this product and print them side by side with what they may be at most.

Options:
  --only TEXT  Only what has this in its name; may be given several times.
  --json       Print a JSON list instead of the table.
  --help       Show this help.

Exit codes: 0 everything was measured, however slow it was; 1 something could not be measured; 2 wrong usage.
`;

/** @returns the exit code */
async function main(args: string[]): Promise<number> {
  const options = readOptions(args);
  if (options === undefined) return 2;
  if (options.help === true) {
    process.stdout.write(help);
    return 0;
  }
  // Only now: it loads the whole product.
  const { benches, fluxReleases } = await import('./benches.ts');
  const chosen = select(await benches(), options.only ?? []);
  if (chosen.length === 0) {
    process.stderr.write(`Nothing has ${(options.only ?? []).join(' or ')} in its name.\n`);
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
  process.stdout.write(options.json === true ? `${JSON.stringify(rows.map(plain), null, 2)}\n` : `\n${table(rows)}`);
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
        json: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${help}`);
    return undefined;
  }
}

/** Readers of the table have to know what else was running. */
function warnOfLoad(): void {
  const [load = 0] = loadavg();
  if (load < 0.5) return;
  const cores = availableParallelism();
  process.stderr.write(
    `This machine is busy with something else (load ${load.toFixed(1)}, ${cores} cores): times suffer.\n`,
  );
}

/** Benches by their name or by what they measure. */
function select(all: Bench[], only: string[]): Bench[] {
  if (only.length === 0) return all;
  const texts = only.map((text) => text.toLowerCase());
  return all.filter(({ name, lines }) =>
    [name, ...lines.map(({ what }) => what)].some((has) => texts.some((text) => has.toLowerCase().includes(text))),
  );
}

function plain(row: Row) {
  const { what, unit, atMost } = row;
  const limit = { what, unit, ...(atMost === undefined ? {} : { atMost }) };
  if ('failure' in row) return { ...limit, failure: row.failure };
  return { ...limit, ...row.measured, ...(atMost === undefined ? {} : { holds: verdictOf(row) }) };
}

process.exitCode = await main(process.argv.slice(2));
