import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { standIn } from '../../shared/flux/testing.ts';
import { shootFlux } from './testing.ts';

const run = promisify(execFile);

test.each(['run', 'render', 'validate', 'distribution'])('%s --help shows usage and options', async (name) => {
  const { code, out, err } = await shootFlux([name, '--help']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(new RegExp(`^Usage:\n  shoot-flux ${name} .*\\[options\\]\n`));
  expect(out).toMatch(/\n {2}--flux-distribution DIR {2}/);
  expect(out).toMatch(/\n {2}-h, --help /);
});

test('lists every command in the overview', async () => {
  const { code, out } = await shootFlux(['--help']);
  expect(code).toBe(0);
  for (const name of ['run', 'render', 'validate', 'distribution']) expect(out).toContain(`\n  ${name} `);
  expect(await shootFlux([])).toEqual({ code: 2, out, err: '' });
});

test.each([
  [['toString'], 'shoot-flux: unknown command "toString"; see: shoot-flux --help\n'],
  [['render', '--frob'], 'shoot-flux render: unknown option "--frob"; see: shoot-flux render --help\n'],
  [
    ['render', '--shoot', '--json'],
    'shoot-flux render: option "--shoot" argument is ambiguous; see: shoot-flux render --help\n',
  ],
  [['render', 'x'], 'shoot-flux render: unexpected argument "x"; see: shoot-flux render --help\n'],
  [['render'], 'shoot-flux render: option --flux-distribution DIR is required; see: shoot-flux render --help\n'],
])('rejects %j as wrong usage', async (args, err) => {
  expect(await shootFlux(args)).toEqual({ code: 2, out: '', err });
});

test.each([
  [[], 0],
  [['--json'], 0],
])('does not fail when the reader closes the pipe: render %j', async (args, code) => {
  const command = ['infra/cli/shoot-flux.js', 'render', '--flux-distribution', standIn.folder, ...args];
  const child = spawn(process.execPath, command);
  child.stdout.destroy();
  const [err, [ended]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  expect({ ended, err: err.replaceAll(/^not shown: .*\n/gm, '') }).toEqual({ ended: code, err: '' });
});

const entry = new URL('shoot-flux.js', import.meta.url);

/** Loads the entry in a new process, and returns the size of its pool of threads. */
async function poolSize(env: Record<string, string>): Promise<string> {
  const { UV_THREADPOOL_SIZE: _, ...inherited } = process.env;
  const script = `process.on('exit', () => console.log('threads: ' + process.env.UV_THREADPOOL_SIZE)); await import('${entry}')`;
  const args = ['--input-type=module', '-e', script, fileURLToPath(entry), '--help'];
  const { stdout } = await run(process.execPath, args, { env: { ...inherited, ...env } }).catch(
    (error: { stdout: string }) => error,
  );
  return /threads: (\d+)/.exec(stdout)?.[1] ?? stdout;
}

test('has more threads than slow look-ups of addresses occupy, unless the operator sets their number', async () => {
  expect(await poolSize({})).toBe('16');
  expect(await poolSize({ UV_THREADPOOL_SIZE: '7' })).toBe('7');
});
