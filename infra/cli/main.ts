import { text } from 'node:stream/consumers';
import { cli } from './cli.ts';
import { exitCodes } from './command.ts';
import type { Terminal } from './option.ts';

// A reader such as `head` may close the pipe early; the command still ends with its own exit code.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') return;
  process.stderr.write(`shoot-flux: standard output: ${message}\n`);
  process.exit(exitCodes.failure);
});

const terminal: Terminal = {
  out: (data) => process.stdout.write(data),
  err: (data) => process.stderr.write(data),
  stdin: () => text(process.stdin),
  environment: process.env,
  isTerminal: process.stdout.isTTY === true,
  file: process.argv[1] ?? '',
};
// Without `await`: a bundle in CommonJS cannot wait here.
void cli(process.argv.slice(2), terminal).then((code) => {
  process.exitCode = code;
});
