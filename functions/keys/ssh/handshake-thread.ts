import { parentPort, workerData } from 'node:worker_threads';
import { presentedKey } from './handshake.ts';
import type { HandshakeRequest } from './threaded-handshake.ts';

/** The thread of one handshake: sends the blob of the host key, or undefined. */
const { address, port, timeoutMs } = workerData as HandshakeRequest;
// Without `await`: a bundle in CommonJS cannot wait here.
void presentedKey(address, port, AbortSignal.timeout(timeoutMs)).then((key) => parentPort?.postMessage(key?.blob));
