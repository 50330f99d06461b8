import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

/** Where a thread with this file as its program connects to. */
export interface HandshakeRequest {
  hostKeyOf: { address: string; port: number };
}

/** Most preferred first: Flux offers a server only the algorithms of the keys in known_hosts (docs/flux-facts.md). */
const hostKeys = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
] as const;

/** Without group exchange, in which the server chooses a prime, and without large groups: both take up to minutes. */
const keyExchanges = [
  'curve25519-sha256',
  'curve25519-sha256@libssh.org',
  'ecdh-sha2-nistp256',
  'ecdh-sha2-nistp384',
  'ecdh-sha2-nistp521',
  'diffie-hellman-group14-sha256',
] as const;

/** Returns the host key that the server at an address presents and proves to hold; undefined when there is none. */
export async function presentedKey(address: string, port: number, signal: AbortSignal): Promise<Buffer | undefined> {
  // 19 MB and 70 ms, needed only where the configuration asks to trust on first use.
  const { default: ssh2 } = await import('ssh2');
  if (signal.aborted) return undefined;
  const client = new ssh2.Client();
  const socket = connect({ host: address, port });
  try {
    return await new Promise<Buffer | undefined>((resolve) => {
      let presented: Buffer | undefined;
      const fail = () => resolve(undefined);
      signal.addEventListener('abort', fail, { once: true });
      socket.on('close', fail);
      // Only after the handshake the server has proved, by a signature, that it holds the key.
      client.on('handshake', () => resolve(presented));
      client.on('error', fail);
      client.on('close', fail);
      client.connect({
        sock: socket,
        username: 'git',
        readyTimeout: 0,
        authHandler: [],
        algorithms: { serverHostKey: [...hostKeys], kex: [...keyExchanges], compress: ['none'] },
        hostVerifier: (blob: Buffer) => {
          presented = Buffer.from(blob);
          return true;
        },
      });
    });
  } finally {
    client.destroy();
    socket.destroy();
  }
}

const request = (workerData as Partial<HandshakeRequest> | null)?.hostKeyOf;
if (request !== undefined) {
  // Without a time limit, since the scan ends the thread, and without `await`, which a bundle in CommonJS has not.
  void presentedKey(request.address, request.port, AbortSignal.any([])).then((key) => parentPort?.postMessage(key));
}
