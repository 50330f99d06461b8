import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import type { HostKeyScan } from '../../shared/runtime/context.ts';

/** Decides which addresses may be scanned. */
export interface ScanPolicy {
  /** False: no host is scanned. */
  isOn: boolean;
  /** Returns whether this address may be contacted, which the name in the URL has resolved to (or which is itself). */
  permits(host: string, address: string): boolean;
}

/**
 * Addresses of the machine, its network segment and the metadata services of clouds. A service there often trusts
 * whatever reaches it, so it is contacted only if the operator has listed its address.
 */
const special = [
  ...['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '192.0.0.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  // Metadata of Alibaba Cloud and Azure, which are outside of the link-local range.
  ...['100.100.100.200', '168.63.129.16'],
  ...['::', '::1', 'fe80::/10', 'ff00::/8'],
  // NAT64 prefixes of a network itself (RFC 8215), which do not say where the IPv4 address is, and site-local addresses.
  ...['64:ff9b:1::/48', 'fec0::/10'],
  // Metadata and credentials of AWS, Google Cloud, Oracle Cloud and Scaleway over IPv6.
  ...['fd00:ec2::/32', 'fd20:ce::254', 'fd00:c1::a9fe:a9fe', 'fd00:42::42'],
  // Teredo (RFC 4380): leads to an IPv4 address that is written inverted.
  '2001::/32',
];

/** Returns the policy of the operator's settings. Without any, all but special addresses are permitted. */
export function scanPolicy({ mode, allow, deny }: HostKeyScan = { mode: 'on', allow: [], deny: [] }): ScanPolicy {
  const [allowed, denied] = [listOf(allow), listOf(deny)];
  const specialAddresses = listOf(special).addresses;
  const permitsOne = (name: string, address: string) => {
    if (denied.names.some((pattern) => matchesName(pattern, name)) || has(denied.addresses, address)) return false;
    const isListed = has(allowed.addresses, address);
    // A name does not lift this: its owner decides what it resolves to.
    if (has(specialAddresses, address)) return isListed;
    return mode === 'on' || isListed || allowed.names.some((pattern) => matchesName(pattern, name));
  };
  return {
    isOn: mode !== 'off',
    permits(host, address) {
      const name = host.toLowerCase().replace(/\.$/, '');
      if (isIP(address) === 0 || address.includes('%')) return false;
      const inside = embeddedIPv4(address);
      return permitsOne(name, address) && (inside === undefined || permitsOne(name, inside));
    },
  };
}

/** Returns why an entry of the lists is invalid; undefined when it is valid. */
export function scanEntryProblem(entry: string): string | undefined {
  if (NAME.test(entry) || isAddress(entry)) return undefined;
  return `"${entry}" is not an address such as 10.0.0.0/8, or a host name such as git.example.org or *.example.org`;
}

/** The last label has a letter, so that a mistyped address is not taken for a name. */
const NAME = /^(\*\.)?([a-z0-9_-]+\.)*[a-z0-9-]*[a-z][a-z0-9-]*$/i;

function isAddress(entry: string): boolean {
  const [address = '', prefix, more] = entry.split('/');
  const bits = isIPv4(address) ? 32 : 128;
  const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
  return isIP(address) !== 0 && !address.includes('%') && isPrefix && more === undefined;
}

function listOf(entries: readonly string[]): { addresses: BlockList; names: string[] } {
  const addresses = new BlockList();
  for (const entry of entries.filter(isAddress)) {
    const [address = '', prefix] = entry.split('/');
    const bits = isIPv4(address) ? 32 : 128;
    addresses.addSubnet(address, prefix === undefined ? bits : Number(prefix), family(address));
  }
  return { addresses, names: entries.filter((entry) => !isAddress(entry)).map((entry) => entry.toLowerCase()) };
}

function has(list: BlockList, address: string): boolean {
  return list.check(address, family(address));
}

function family(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6';
}

function matchesName(pattern: string, name: string): boolean {
  return pattern.startsWith('*.') ? name.endsWith(pattern.slice(1)) : name === pattern;
}

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
