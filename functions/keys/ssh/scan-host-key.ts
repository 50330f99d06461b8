import { RetryableError } from '../../../shared/errors.ts';
import { hostPattern, type SshHost } from '../../../shared/ssh/host.ts';
import { type PublicKey, publicKeyOf } from '../../../shared/ssh/public-key.ts';

/** Long enough for a slow server, short enough for a function of ten seconds. */
const TIMEOUT_MS = 5_000;

/** Preferred first. Flux offers a server only the algorithms of the keys in known_hosts (facts/flux.md 3.3). */
const ALGORITHMS = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
] as const;

/**
 * The host key that a server shows and proves to hold, without logging in.
 * @throws RetryableError with one sentence that does not tell why: the address is a stranger's choice, and the answer
 * must not make a port scanner of us
 */
export async function scanHostKey(host: SshHost, signal: AbortSignal): Promise<PublicKey> {
  // A megabyte of SSH is loaded only where somebody asked to trust on first use.
  const { default: ssh2 } = await import('ssh2');
  const client = new ssh2.Client();
  const blob = await new Promise<Buffer | undefined>((resolve) => {
    let shown: Buffer | undefined;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    if (limit.aborted) return resolve(undefined);
    limit.addEventListener('abort', () => resolve(undefined), { once: true });
    // After the handshake the server has signed with the key; before it, it only claims the key.
    client.on('handshake', () => resolve(shown));
    client.on('error', () => resolve(undefined));
    client.on('close', () => resolve(undefined));
    client.connect({
      host: host.host,
      port: host.port,
      username: 'git',
      readyTimeout: TIMEOUT_MS,
      authHandler: [],
      algorithms: { serverHostKey: [...ALGORITHMS] },
      hostVerifier: (key: Buffer) => {
        shown = Buffer.from(key);
        return true;
      },
    });
  });
  client.destroy();
  const key = blob === undefined ? undefined : publicKeyOf(blob);
  if (key === undefined) {
    throw new RetryableError(
      `${hostPattern(host)} showed no SSH host key; check the address, or give its host keys in knownHosts.`,
    );
  }
  return key;
}
