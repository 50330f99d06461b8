import { type ParseArgsConfig, parseArgs } from 'node:util';
import { errorMessage, ShootFluxError } from '../shared/errors.ts';

type Options = NonNullable<ParseArgsConfig['options']> & { help: { readonly type: 'boolean' } };
type Values<Known extends Options> = ReturnType<typeof parseArgs<{ options: Known }>>['values'];

/**
 * Runs a script of this repository that makes something, and sets the exit code: 0 success, 1 failure, 2 wrong usage.
 * @param make returns the sentence that says what was made; undefined for wrong usage
 */
export async function makeCommand<Known extends Options>(
  help: string,
  options: Known,
  make: (values: Values<Known>) => Promise<string | undefined>,
): Promise<void> {
  process.exitCode = await run(help, options, make);
}

async function run<Known extends Options>(
  help: string,
  options: Known,
  make: (values: Values<Known>) => Promise<string | undefined>,
): Promise<number> {
  const values = parse(options);
  if ((values as { help?: boolean } | undefined)?.help === true) {
    process.stdout.write(help);
    return 0;
  }
  try {
    const made = values === undefined ? undefined : await make(values);
    (made === undefined ? process.stderr : process.stdout).write(made ?? help);
    return made === undefined ? 2 : 0;
  } catch (error) {
    process.stderr.write(`${error instanceof ShootFluxError ? errorMessage(error) : (error as Error).stack}\n`);
    return 1;
  }
}

function parse<Known extends Options>(options: Known): Values<Known> | undefined {
  try {
    return parseArgs({ args: process.argv.slice(2), options }).values as Values<Known>;
  } catch (error) {
    process.stderr.write(`${errorMessage(error)}\n\n`);
    return undefined;
  }
}
