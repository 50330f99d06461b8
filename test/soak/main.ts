import { parseArgs } from 'node:util';

const help = `Usage:
  npm run soak -- [options]

Run the product for an hour beside Shoots that are created, changed, hibernated and deleted at random, beside broken
configurations and clusters that fail, and check that memory, handles and queues do not grow and that everything is
well in the end.

Options:
  --minutes N  How long it lasts. Default: 60.
  --seed N     Repeats the steps of another run. Default: today's date.
  --shoots N   How many Shoots exist at most. Default: 12.
  --log        Print the product's log.
  --help       Show this help.

Exit codes: 0 all is well; 1 something is wrong; 2 wrong usage.
`;

/** @returns the exit code */
async function main(args: string[]): Promise<number> {
  const options = readOptions(args);
  if (options === undefined) return 2;
  if (options.help === true) {
    process.stdout.write(help);
    return 0;
  }
  const seed = options.seed ?? Number(new Date().toISOString().slice(0, 10).replaceAll('-', ''));
  process.stderr.write(`seed ${seed}, ${options.minutes} minute${options.minutes === 1 ? '' : 's'}\n`);
  const { soak } = await import('./soak.ts');
  const { steps, runs, samples, wrong } = await soak({
    minutes: options.minutes,
    shoots: options.shoots,
    seed,
    progress: (text) => process.stderr.write(`${text}\n`),
    ...(options.log ? { onLog: (line: string) => process.stderr.write(`${line}\n`) } : {}),
  });
  const total = Object.entries(runs).map(([result, count]) => `${count} ${result}`);
  process.stdout.write(`${steps} steps, runs: ${total.join(', ')}; ${samples.length} samples\n`);
  for (const sentence of wrong) process.stdout.write(`wrong: ${sentence}\n`);
  if (wrong.length === 0) process.stdout.write('Memory, handles and queues stay flat, and all Shoots are well.\n');
  return wrong.length === 0 ? 0 : 1;
}

function readOptions(args: string[]) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        minutes: { type: 'string', default: '60' },
        seed: { type: 'string' },
        shoots: { type: 'string', default: '12' },
        log: { type: 'boolean', default: false },
        help: { type: 'boolean' },
      },
    });
    const numbers = { minutes: Number(values.minutes), shoots: Number(values.shoots) };
    const seed = values.seed === undefined ? undefined : Number(values.seed);
    for (const [name, value] of Object.entries({ ...numbers, seed: seed ?? 1 })) {
      if (!(value > 0)) throw new Error(`--${name} needs a number above 0.`);
    }
    return { ...values, ...numbers, seed };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${help}`);
    return undefined;
  }
}

process.exitCode = await main(process.argv.slice(2));
