import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { debuglog } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

/** Set while the cache is filled: the process saves what it has compiled when it ends. */
export const FILL = 'SHOOT_FLUX_FILL_COMPILE_CACHE';

/** Visible with `NODE_DEBUG=shoot-flux`. */
const debug = debuglog('shoot-flux');

/**
 * Runs a program of the bundle with the code that V8 compiled when the image was built. Node.js has a compile cache too,
 * but a folder of it for each uid, and a container may run as any uid on a file system that it cannot write to
 * (decision 40).
 * @param program name of the `.cjs` file beside this one
 * @param use what it is used for; each use has its own cache, because each compiles other functions
 */
export function load(program: string, use = program): void {
  const filename = join(import.meta.dirname, `${program}.cjs`);
  const bytes = readFileSync(filename);
  // V8 compares only the length of the source.
  const cacheFile = join(import.meta.dirname, 'compile-cache', `${use}-${crc32(bytes).toString(16)}.bin`);
  const isFilling = process.env[FILL] !== undefined;
  const cachedData = isFilling ? undefined : readOptional(cacheFile);
  // A bundle is ASCII: two bytes for each character would take twice the memory.
  if (isFilling) for (const flag of whileFilling) setFlagsFromString(`--no-${flag}`);
  const source = `(function(exports,require,module,__filename,__dirname){${bytes.toString('latin1')}\n})`;
  const script = new Script(source, { filename, ...(cachedData !== undefined && { cachedData }) });
  debug(`compile cache of %s: %s`, use, describe(cachedData, script.cachedDataRejected));
  if (isFilling) process.on('exit', () => save(script, cacheFile));
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(filename), module, filename, import.meta.dirname);
}

/**
 * What makes the cache depend on time: code gets marks from compilers in other threads (with maglev, one byte differed
 * in 5 of 25 caches), and code that was not used for a while is dropped.
 */
const whileFilling = ['sparkplug', 'maglev', 'flush-bytecode'];

/** A start uses the cache only if its flags are the same, so they are set back. */
function save(script: Script, cacheFile: string): void {
  for (const flag of whileFilling) setFlagsFromString(`--${flag}`);
  writeFileSync(cacheFile, script.createCachedData());
}

function describe(cachedData: Buffer | undefined, isRejected: boolean | undefined): string {
  if (cachedData === undefined) return 'none';
  return isRejected === true ? 'rejected' : 'used';
}

function readOptional(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
