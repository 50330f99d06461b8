import { setFlagsFromString } from 'node:v8';

/**
 * Sets what a process cannot change later. Call it before anything else is loaded.
 * @param {string | undefined} command the first argument of the command line
 */
export function prepareProcess(command) {
  // V8 grows its young generation to 16 MB while it compiles, and never shrinks it. And it lets the old one grow to
  // several times what is in use before it collects: with 1,200 followed Shoots 230 to 270 MB were resident after the
  // first runs, and 150 to 160 with 30 %, for a tenth more CPU during those runs. With 30 %, V8's
  // threads used a fifth of the CPU of 1,000 Shoots at rest.
  if (command === 'run' || command === 'watch') {
    setFlagsFromString('--semi-space-growth-factor=1');
    setFlagsFromString('--heap-growing-percent=35');
  }
  // Before the pool of threads is first used, which keeps its size. Look-ups of shoots' addresses occupy its threads,
  // four by default, for as long as a DNS server is silent, and files, compression and cryptography need them, too.
  process.env.UV_THREADPOOL_SIZE ??= '16';
}
