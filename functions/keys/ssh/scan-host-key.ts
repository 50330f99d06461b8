import { RetryableError } from '../../../shared/errors.ts';
import { hostPattern, type SshHost } from '../../../shared/ssh/host.ts';
import { type PublicKey, publicKeyOf } from '../../../shared/ssh/public-key.ts';

/** Long enough for a slow server, short enough for a function with a limit of ten seconds. */
const TIMEOUT_MS = 5_000;

/** Most preferred first: Flux offers a server only the algorithms of the keys in known_hosts (docs/flux-facts.md). */
const ALGORITHMS = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
] as const;

/**
 * Returns the host key that a server presents and proves to hold, without logging in.
 * @throws RetryableError that does not say why it failed: users choose the address, and must not be able to use the
 * answer as a port scanner for the garden's network
 */
export async function scanHostKey(host: SshHost, signal: AbortSignal): Promise<PublicKey> {
  // 0.3 MB of SSH, loaded only where the configuration asks to trust on first use.
  const { default: ssh2 } = await import('ssh2');
  const client = new ssh2.Client();
  const blob = await new Promise<Buffer | undefined>((resolve) => {
    let presented: Buffer | undefined;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    if (limit.aborted) return resolve(undefined);
    limit.addEventListener('abort', () => resolve(undefined), { once: true });
    // Only after the handshake the server has proved, by a signature, that it holds the key.
    client.on('handshake', () => resolve(presented));
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
        presented = Buffer.from(key);
        return true;
      },
    });
  });
  client.destroy();
  const key = blob === undefined ? undefined : publicKeyOf(blob);
  if (key === undefined) {
    throw new RetryableError(
      `${hostPattern(host)} presented no SSH host key; check the address, or list its host keys in knownHosts.`,
    );
  }
  return key;
}
