import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { type PublicKey, publicKeyOf } from '../../../shared/ssh/public-key.ts';
import { createTurns } from '../../../shared/turns.ts';
import { presentedKey } from './handshake.ts';

/** The data of a thread. */
export interface HandshakeRequest {
  address: string;
  port: number;
  timeoutMs: number;
}

/** Each thread takes about 10 MB. */
const threads = createTurns(4);

/** After this time a handshake gives its thread to one that waits: with servers that answer, it takes a tenth of it. */
const TURN_MS = 1000;

const MEMORY_MB = 48;

const CODE = new URL('./handshake-thread.ts', import.meta.url);

/**
 * Like `presentedKey`, in a thread that ends with the handshake, or is killed at its limit: loading `ssh2` alone takes
 * 40 ms, and a server must not be able to hold the event loop in a way that we do not know. In a bundle for Lambda,
 * where nothing else shares the event loop, there is no thread.
 * @param code another program for the thread, for tests
 */
export async function keyPresentedTo(
  address: string,
  port: number,
  signal: AbortSignal,
  timeoutMs: number,
  code = CODE,
): Promise<PublicKey | undefined> {
  if (code === CODE && !existsSync(code)) return presentedKey(address, port, signal);
  const end = await threads.take(signal).catch(() => undefined);
  if (end === undefined) return undefined;
  try {
    const blob = await inThread(code, { address, port, timeoutMs }, signal);
    return blob === undefined ? undefined : publicKeyOf(blob);
  } finally {
    end();
  }
}

async function inThread(code: URL, request: HandshakeRequest, signal: AbortSignal): Promise<Buffer | undefined> {
  const giveUp = new AbortController();
  const patience = setInterval(() => threads.areWanted() && giveUp.abort(), TURN_MS);
  const worker = new Worker(code, {
    workerData: request,
    name: 'ssh handshake',
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    stdout: true,
    stderr: true,
  });
  try {
    return await new Promise<Buffer | undefined>((resolve) => {
      const fail = () => resolve(undefined);
      if (signal.aborted) fail();
      AbortSignal.any([signal, giveUp.signal]).addEventListener('abort', fail, { once: true });
      worker.on('message', (blob: Uint8Array | undefined) => resolve(blob && Buffer.from(blob)));
      worker.on('error', fail);
      worker.on('exit', fail);
    });
  } finally {
    clearInterval(patience);
    await worker.terminate();
  }
}
