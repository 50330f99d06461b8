import { Resolver } from 'node:dns/promises';
import { connect, isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { resumed } from '../../shared/runtime/activity.ts';
import { publicKeyProblem } from '../../shared/ssh/identity.ts';
import type { SshHost } from '../../shared/ssh/known-hosts.ts';
import { type PublicKey, publicKeyOf } from '../../shared/ssh/public-key.ts';
import type { ScanPolicy } from './scan-policy.ts';

/** Long enough for a slow server, short enough for a function with a limit of ten seconds. */
const TIMEOUT_MS = 5_000;

/** How a host is scanned. */
export interface ScanOptions {
  policy: ScanPolicy;
  signal: AbortSignal;
  /** Limit of a scan, and duration of each one that fails. */
  timeoutMs?: number;
  /** Default: those of the system. */
  dnsServers?: string[];
}

/**
 * Returns the host key that a server presents and proves to hold, without logging in; undefined when there is none. Names
 * are resolved once, and only an address that the policy permits is contacted. Each failure takes the same time: users
 * choose the address, and must not be able to use the answer as a port scanner for the garden's network (decision 33).
 */
export async function scanHostKey(host: SshHost, options: ScanOptions): Promise<PublicKey | undefined> {
  const { signal, timeoutMs = TIMEOUT_MS } = options;
  const end = sleep(timeoutMs, undefined, { signal }).catch(() => {});
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const key = limit.aborted ? undefined : await scan(host, options, limit);
  if (key === undefined) await end;
  return key;
}

async function scan(
  { host, port }: SshHost,
  { policy, dnsServers }: ScanOptions,
  limit: AbortSignal,
): Promise<PublicKey | undefined> {
  const addresses = await addressesOf(host, limit, dnsServers);
  // One address that is not permitted excludes the name: it could be contacted by whatever connects next.
  if (!addresses.every((address) => policy.permits(host, address))) return undefined;
  const [first, ...others] = addresses;
  // The first of each family: an address of one family may be out of reach from here.
  const second = others.find((address) => address.includes(':') !== first?.includes(':'));
  for (const address of [first, second]) {
    if (address === undefined || limit.aborted) continue;
    const key = await keyPresentedTo(address, port, limit);
    if (key !== undefined) return key;
  }
  return undefined;
}

/** More addresses than a server has. */
const MOST_ADDRESSES = 16;

/**
 * Returns the addresses of a host, IPv4 first; none when there is none. It asks the DNS servers itself: the resolver of
 * the system would hold one of the four threads that files and all other names wait for, as long as a slow DNS server
 * of the tenant likes.
 * @param servers DNS servers instead of those of the system
 */
async function addressesOf(host: string, signal: AbortSignal, servers?: string[]): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  const resolver = new Resolver({ timeout: 1500, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  const stop = () => resolver.cancel();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    return answers
      .flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
      .slice(0, MOST_ADDRESSES + 1);
  } finally {
    signal.removeEventListener('abort', stop);
  }
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

/** Returns the host key that the server at an address presents and proves to hold, if Flux accepts it. */
export async function keyPresentedTo(
  address: string,
  port: number,
  signal: AbortSignal,
): Promise<PublicKey | undefined> {
  // 19 MB and 70 ms, needed only where the configuration asks to trust on first use.
  const { default: ssh2 } = await import('ssh2');
  if (signal.aborted) return undefined;
  const client = new ssh2.Client();
  const socket = connect({ host: address, port });
  // Before the handshake reads what may hold up the thread.
  socket.on('data', resumed);
  try {
    const presentedKey = await new Promise<Buffer | undefined>((resolve) => {
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
    return acceptableKey(presentedKey);
  } finally {
    client.destroy();
    socket.destroy();
  }
}

/** Returns the key if its type and size are such that Flux accepts it. */
function acceptableKey(bytes: Buffer | undefined): PublicKey | undefined {
  try {
    const key = bytes && publicKeyOf(bytes);
    return key && publicKeyProblem(key) === undefined ? key : undefined;
  } catch {
    return undefined;
  }
}
