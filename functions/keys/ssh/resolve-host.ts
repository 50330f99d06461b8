import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';

/** More addresses than a server has. */
const MOST_ADDRESSES = 16;

/**
 * Returns the addresses of a host, IPv4 first; none when there is none. It asks the DNS servers itself: the resolver of
 * the system would hold one of the four threads that files and all other names wait for, as long as a slow DNS server
 * of the tenant likes.
 * @param servers DNS servers instead of those of the system
 */
export async function addressesOf(host: string, signal: AbortSignal, servers?: string[]): Promise<string[]> {
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
