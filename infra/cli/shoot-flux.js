#!/usr/bin/env node
// The entry is JavaScript: for a TypeScript one, Node.js would load its stripper of types in every process, 15 MB that
// it never frees, although all other modules come from the compile cache.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

// Before anything is loaded: V8 grows its young generation to 16 MB while it compiles, and never shrinks it.
if (process.argv[2] === 'run') setFlagsFromString('--semi-space-growth-factor=1');
enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url)));
await import('./main.ts');
