import { connect } from 'node:net';
import { type PublicKey, publicKeyOf } from '../../../shared/ssh/public-key.ts';
import { publicKeyProblem } from './openssh-key.ts';

/** Most preferred first: Flux offers a server only the algorithms of the keys in known_hosts (docs/flux-facts.md). */
const hostKeys = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
] as const;

/**
 * No group exchange, in which the server chooses the prime, and no large groups: each would block the event loop, from
 * 50 ms (group 16) to minutes.
 */
const keyExchanges = [
  'curve25519-sha256',
  'curve25519-sha256@libssh.org',
  'ecdh-sha2-nistp256',
  'ecdh-sha2-nistp384',
  'ecdh-sha2-nistp521',
  'diffie-hellman-group14-sha256',
] as const;

/** A handshake takes 2 to 5 KB. */
const MAX_BYTES = 64 * 1024;

/** A key of 16,384 bits with its type and exponent. */
const MAX_KEY_BYTES = 4096;

/** Returns the host key that the server at an address presents and proves to hold; undefined when there is none. */
export async function presentedKey(address: string, port: number, signal: AbortSignal): Promise<PublicKey | undefined> {
  // 0.3 MB of SSH, needed only where the configuration asks to trust on first use.
  const { default: ssh2 } = await import('ssh2');
  if (signal.aborted) return undefined;
  const client = new ssh2.Client();
  const socket = connect({ host: address, port });
  try {
    return await new Promise<PublicKey | undefined>((resolve) => {
      let presented: PublicKey | undefined;
      let received = 0;
      const fail = () => resolve(undefined);
      signal.addEventListener('abort', fail, { once: true });
      // Before the client's own listener, so that it never sees more.
      socket.on('data', (data) => {
        received += data.length;
        if (received > MAX_BYTES) socket.destroy();
      });
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
          presented = acceptable(blob);
          return presented !== undefined;
        },
      });
    });
  } finally {
    client.destroy();
    socket.destroy();
  }
}

/** Returns a copy of a key of a known type and size. */
function acceptable(blob: Buffer): PublicKey | undefined {
  if (blob.length > MAX_KEY_BYTES) return undefined;
  try {
    const key = publicKeyOf(Buffer.from(blob));
    return key === undefined || publicKeyProblem(key) !== undefined ? undefined : key;
  } catch {
    return undefined;
  }
}
