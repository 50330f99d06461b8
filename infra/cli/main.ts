import { text } from 'node:stream/consumers';
import { cli } from './cli.ts';
import { exitCodes } from './command.ts';

// A reader such as `head` may close the pipe early; the command still ends with its own exit code.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') return;
  process.stderr.write(`shoot-flux: standard output: ${message}\n`);
  process.exit(exitCodes.failure);
});

process.exitCode = await cli(process.argv.slice(2), {
  out: (data) => process.stdout.write(data),
  err: (data) => process.stderr.write(data),
  stdin: () => text(process.stdin),
  environment: process.env,
});
