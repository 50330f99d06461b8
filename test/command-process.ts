import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const sources = join(import.meta.dirname, '../infra/cli/shoot-flux.js');

/** A command of `shoot-flux` with endpoints, as a process that is measured. */
export type CommandProcess = Awaited<ReturnType<typeof startCommand>>;

/** What is started, and who reads its log. */
export interface CommandProcessOptions {
  /** The bundle, instead of the sources. */
  entry?: string;
  /** A module that the process loads first. */
  preload?: string;
  /** Called with each line that the process writes, but the one with the port. */
  onLine?(line: string): void;
}

/** Starts a command like an operator, on a free port, and resolves when its endpoints answer. */
export async function startCommand(
  args: readonly string[],
  { entry = sources, preload, onLine }: CommandProcessOptions = {},
) {
  const imports = preload === undefined ? [] : ['--import', preload];
  const child = spawn(process.execPath, [...imports, entry, ...args, '--port=0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    // As the image and `npm run shoot-flux` set it.
    env: { ...process.env, MALLOC_ARENA_MAX: '1' },
  });
  const ended = once(child, 'exit');
  const port = Promise.withResolvers<string>();
  createInterface({ input: child.stderr }).on('line', (line) => {
    const [, number] = /metrics on port (\d+)/.exec(line) ?? [];
    if (number !== undefined) port.resolve(number);
    else onLine?.(line);
  });
  child.once('exit', (code) => port.reject(new Error(`shoot-flux ${args[0]} ended with ${code} while it started.`)));
  /** Ends the process and waits until it has. */
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    await ended;
  };
  return {
    /** Where probes and metrics are, for example `http://127.0.0.1:40123`. */
    address: `http://127.0.0.1:${await port.promise}`,
    pid: child.pid ?? 0,
    stop,
    [Symbol.asyncDispose]: () => stop(),
  };
}
