import { type ExecFileException, execFile } from 'node:child_process';
import { type ParseArgsConfig, parseArgs, promisify } from 'node:util';
import { errorMessage, ShootFluxError } from '../shared/errors.ts';

export const text = { type: 'string' } as const;
export const flag = { type: 'boolean' } as const;

type Options = NonNullable<ParseArgsConfig['options']>;
/** What a command line gives for these options. */
export type Values<Known extends Options> = ReturnType<typeof parseArgs<{ options: Known }>>['values'];

/**
 * Runs a script of this repository that makes something, and sets the exit code: 0 success, 1 failure, 2 wrong usage.
 * @param make returns what is printed, such as the sentence that says what was made; undefined for wrong usage
 * @param refused the exit code where it throws a ShootFluxError
 */
export async function makeCommand<Known extends Options>(
  help: string,
  options: Known,
  make: (values: Values<Known>) => Promise<string | undefined>,
  refused = 1,
): Promise<void> {
  const values = parse(options);
  if (values !== undefined && 'help' in values) return void process.stdout.write(help);
  try {
    const made = values === undefined ? undefined : await make(values);
    (made === undefined ? process.stderr : process.stdout).write(made ?? help);
    process.exitCode = made === undefined ? 2 : 0;
  } catch (error) {
    const isRefused = error instanceof ShootFluxError;
    process.stderr.write(`${isRefused ? errorMessage(error) : (error as Error).stack}\n`);
    process.exitCode = isRefused ? refused : 1;
  }
}

function parse<Known extends Options>(options: Known): Values<Known> | undefined {
  try {
    return parseArgs({ args: process.argv.slice(2), options: { ...options, help: flag } }).values as Values<Known>;
  } catch (error) {
    process.stderr.write(`${errorMessage(error)}\n\n`);
    return undefined;
  }
}

/** Runs a program, and returns what it prints. @throws ShootFluxError with its own words when it fails */
export async function runProgram(
  program: string,
  args: string[],
  cwd?: string,
): Promise<{ stdout: string; stderr: string }> {
  try {
    return await promisify(execFile)(program, args, { cwd, maxBuffer: 2 ** 28 });
  } catch (error) {
    const { code, signal, message, stdout = '', stderr = '' } = error as ExecFileException;
    // Node's types know numbers only.
    if ((code as unknown) === 'ENOENT') {
      throw new ShootFluxError(`${program} is not installed; install it, and repeat the command.`);
    }
    const why = typeof code === 'number' ? code : (signal ?? message);
    const [command = ''] = args.filter((arg) => !arg.startsWith('-'));
    throw new ShootFluxError(`${program} ${command} failed (${why}): ${stderr.slice(-4000) || stdout}`);
  }
}
