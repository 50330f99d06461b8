#!/usr/bin/env node
// The entry is JavaScript: for a TypeScript one, Node.js would load its stripper of types in every process, 15 MB that
// it never frees, although all other modules come from the compile cache.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { prepareProcess } from './prepare.js';

prepareProcess(process.argv[2]);
// Threads inherit it.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url));
enableCompileCache();
await import('./main.ts');
