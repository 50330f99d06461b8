import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const sources = join(import.meta.dirname, '../infra/cli/shoot-flux.js');

/** A command of `shoot-flux` with endpoints, as a process. */
export type CommandProcess = ReturnType<typeof startCommand>;

/** What is started, and who reads its log. */
export interface CommandProcessOptions {
  /** The bundle, instead of the sources. */
  entry?: string;
  /** A module that the process loads first. */
  preload?: string;
  /** Variables of AWS and of this process's own options are not inherited. */
  environment?: Record<string, string>;
  /** Called with each line that the process writes, but the one with the port. */
  onLine?(line: string): void;
}

/** Starts a command like an operator, on a free port. */
export function startCommand(
  args: readonly string[],
  { entry = sources, preload, environment = {}, onLine }: CommandProcessOptions = {},
) {
  const imports = preload === undefined ? [] : ['--import', preload];
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [...imports, entry, ...args, '--port=0'], {
    // As the image and `npm run shoot-flux` set it.
    env: { PATH, HOME, MALLOC_ARENA_MAX: '1', AWS_EC2_METADATA_DISABLED: 'true', ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  const waiting = new Set<() => void>();
  const ended = once(child, 'close').then(([code]) => code as number | null);
  createInterface({ input: child.stderr }).on('line', (line) => {
    output = `${output.slice(-100_000)}${line}\n`;
    for (const look of waiting) look();
    if (!/metrics on port \d/.test(line)) onLine?.(line);
  });
  const until = async (pattern: RegExp): Promise<RegExpExecArray> => {
    const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
    const look = () => {
      const found = pattern.exec(output);
      if (found !== null) resolve(found);
    };
    waiting.add(look);
    void ended.then((code) => reject(new Error(`shoot-flux ${args[0]} has ended with ${code}:\n${output}`)));
    look();
    return promise.finally(() => waiting.delete(look));
  };
  const port = until(/metrics on port (\d+)/);
  port.catch(() => {});
  const end = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return ended;
  };
  return {
    pid: child.pid ?? 0,
    /** Resolves with the first output that matches. Rejects when the process ends before. */
    until,
    /** The end of its log. */
    output: () => output,
    /** Returns the page of a path of the endpoints, once it serves them. */
    async page(path: string) {
      const [, number] = await port;
      const response = await fetch(`http://127.0.0.1:${number}${path}`, { signal: AbortSignal.timeout(60_000) });
      return { status: response.status, text: await response.text() };
    },
    /** Sends a signal and returns the exit code. */
    end,
    [Symbol.asyncDispose]: async () => void (await end('SIGKILL')),
  };
}
