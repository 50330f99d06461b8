import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { root } from './documents.ts';

/** A command of `shoot-flux` as a process. */
export interface CliProcess extends AsyncDisposable {
  /** Resolves with the first output that matches. Rejects when the process ends before. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  output(): string;
  /** Returns the page of a path of the endpoints, whose port the first line names. */
  page(path: string): Promise<{ status: number; text: string }>;
  /** Sends a signal and returns the exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

const sources = join(root, 'infra/cli/shoot-flux.js');

/** Starts a command. Variables of AWS and of this process's own options are not inherited. */
export function startCli(args: string[], environment: Record<string, string> = {}): CliProcess {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [sources, ...args], {
    env: { PATH, HOME, AWS_EC2_METADATA_DISABLED: 'true', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const waiting = new Set<() => void>();
  const ended = once(child, 'close').then(([code]) => code as number | null);
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk;
      for (const look of waiting) look();
    });
  }
  const until = async (pattern: RegExp): Promise<RegExpExecArray> => {
    const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
    const look = () => {
      const found = pattern.exec(output);
      if (found !== null) resolve(found);
    };
    waiting.add(look);
    void ended.then((code) => {
      look();
      reject(new Error(`the process has ended with ${code}:\n${output}`));
    });
    look();
    return promise.finally(() => waiting.delete(look));
  };
  return {
    until,
    output: () => output,
    async page(path) {
      const [, port] = await until(/probes and metrics on port (\d+)/);
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return { status: response.status, text: await response.text() };
    },
    async end(signal = 'SIGTERM') {
      if (child.exitCode === null) child.kill(signal);
      return ended;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) child.kill('SIGKILL');
      await ended;
    },
  };
}
