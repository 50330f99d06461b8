#!/usr/bin/env node
import { text } from 'node:stream/consumers';
import { useCompileCache } from '../compile-cache.ts';

useCompileCache();
const { cli } = await import('./cli.ts');

process.exitCode = await cli(process.argv.slice(2), {
  out: (data) => process.stdout.write(data),
  err: (data) => process.stderr.write(data),
  stdin: () => text(process.stdin),
});
