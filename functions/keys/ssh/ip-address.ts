import { isIPv6 } from 'node:net';

/** Groups at the start of IPv6 addresses that lead to the IPv4 address in two groups that follow them. */
const embeddings = [
  { prefix: [0, 0, 0, 0, 0, 0xffff] }, // Mapped (RFC 4291, 2.5.5.2).
  { prefix: [0, 0, 0, 0, 0xffff, 0] }, // Translated (RFC 2765).
  { prefix: [0, 0, 0, 0, 0, 0] }, // Compatible (RFC 4291, 2.5.5.1).
  { prefix: [0x64, 0xff9b, 0, 0, 0, 0] }, // NAT64 (RFC 6052).
  { prefix: [0x2002] }, // 6to4 (RFC 3056).
];

/** Returns the IPv4 address that an IPv6 address leads to; undefined when it is an address of its own. */
export function embeddedIPv4(address: string): string | undefined {
  if (!isIPv6(address)) return undefined;
  const groups = groupsOf(address);
  const found = embeddings.find(({ prefix }) => prefix.every((group, index) => group === groups[index]));
  if (found === undefined) return undefined;
  const [high = 0, low = 0] = groups.slice(found.prefix.length);
  // `::1` and `::` look like compatible addresses.
  if (high === 0 && groups.slice(0, 6).every((group) => group === 0)) return undefined;
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

/** Returns the eight numbers of an IPv6 address, which the URL parser writes without an IPv4 part. */
function groupsOf(address: string): number[] {
  const [before = '', after] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const numbers = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const [left, right] = [numbers(before), numbers(after ?? '')];
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
}
