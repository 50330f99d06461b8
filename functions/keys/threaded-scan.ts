import { Resolver } from 'node:dns/promises';
import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { SshHost } from '../../shared/ssh/known-hosts.ts';
import { type PublicKey, publicKeyOf } from '../../shared/ssh/public-key.ts';
import { createTurns } from '../../shared/turns.ts';
import { type HandshakeRequest, presentedKey } from './host-key-thread.ts';
import { publicKeyProblem } from './identity.ts';
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

/** Each thread takes about 10 MB. */
const threads = createTurns(4);

/** After this time a handshake gives its thread to one that waits: with servers that answer, it takes a tenth of it. */
const TURN_MS = 1000;

const MEMORY_MB = 48;

const PROGRAM = new URL('./host-key-thread.ts', import.meta.url);

/**
 * Returns the key that a server presents to a thread of its own, which is killed when `signal` aborts: whatever the
 * server finds to hold it up or to fill its memory costs nobody else anything. In a bundle for Lambda, where nothing
 * else runs and the platform ends the run, there is no thread.
 * @param program another program for the thread, for tests
 */
export async function keyPresentedTo(
  address: string,
  port: number,
  signal: AbortSignal,
  program = PROGRAM,
): Promise<PublicKey | undefined> {
  if (program === PROGRAM && !existsSync(program)) return acceptableKey(await presentedKey(address, port, signal));
  const end = await threads.take(signal).catch(() => undefined);
  if (end === undefined) return undefined;
  try {
    return acceptableKey(await messageOf(program, { hostKeyOf: { address, port } }, signal));
  } finally {
    end();
  }
}

async function messageOf(
  program: URL,
  workerData: HandshakeRequest,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const resourceLimits = { maxOldGenerationSizeMb: MEMORY_MB };
  const worker = new Worker(program, { workerData, name: 'SSH', resourceLimits, stdout: true, stderr: true });
  const { promise, resolve } = Promise.withResolvers<Uint8Array | undefined>();
  const fail = () => resolve(undefined);
  const turn = setInterval(() => threads.areWanted() && fail(), TURN_MS);
  if (signal.aborted) fail();
  signal.addEventListener('abort', fail, { once: true });
  worker.on('message', resolve).on('error', fail).on('exit', fail);
  try {
    return await promise;
  } finally {
    clearInterval(turn);
    signal.removeEventListener('abort', fail);
    await worker.terminate();
  }
}

/** Returns the key if its type and size are such that Flux accepts it. */
function acceptableKey(bytes: Uint8Array | undefined): PublicKey | undefined {
  try {
    const key = bytes && publicKeyOf(Buffer.from(bytes));
    return key && publicKeyProblem(key) === undefined ? key : undefined;
  } catch {
    return undefined;
  }
}
