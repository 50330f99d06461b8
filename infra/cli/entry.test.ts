import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const entry = new URL('shoot-flux.js', import.meta.url);

/** Loads the entry in a new process, and returns the size of its pool of threads. */
async function poolSize(env: Record<string, string>): Promise<string> {
  const { UV_THREADPOOL_SIZE: _, ...inherited } = process.env;
  const script = `process.on('exit', () => console.log('threads: ' + process.env.UV_THREADPOOL_SIZE)); await import('${entry}')`;
  const { stdout } = await run(
    process.execPath,
    ['--input-type=module', '-e', script, fileURLToPath(entry), '--help'],
    {
      env: { ...inherited, ...env },
    },
  ).catch((error: { stdout: string }) => error);
  return /threads: (\d+)/.exec(stdout)?.[1] ?? stdout;
}

test('has more threads than slow look-ups of addresses occupy, unless the operator sets their number', async () => {
  expect(await poolSize({})).toBe('16');
  expect(await poolSize({ UV_THREADPOOL_SIZE: '7' })).toBe('7');
});
