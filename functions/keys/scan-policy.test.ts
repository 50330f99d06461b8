import fc from 'fast-check';
import { expect, test } from 'vitest';
import { embeddedIPv4, scanEntryProblem, scanPolicy } from './scan-policy.ts';

const byDefault = scanPolicy();

test.each([
  ...['127.0.0.1', '127.255.255.254', '0.0.0.0', '169.254.169.254', '224.0.0.1', '255.255.255.255', '192.0.0.192'],
  ...['100.100.100.200', '168.63.129.16'],
  ...['::', '::1', '0:0:0:0:0:0:0:1', 'fe80::1', 'fe80::1%eth0', 'ff02::1'],
  ...['fd00:ec2::254', 'FD00:EC2:0::254', 'fd20:ce::254'],
  // Credentials of Pods on AWS, its DNS, and the metadata of Oracle Cloud and Scaleway.
  ...['fd00:ec2::23', 'fd00:ec2::253', 'fd00:c1::a9fe:a9fe', 'fd00:42::42'],
  // Teredo, with 127.0.0.1.
  '2001:0:4136:e378:8000:63bf:80ff:fffe',
  ...['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:a9fe:a9fe', '::127.0.0.1', '64:ff9b::169.254.169.254'],
  ...['64:ff9b:1::7f00:1', '64:ff9b:1:7f00:0:100::', 'fec0::1'],
  ...['64:ff9b::7f00:1', '2002:7f00:1::', '2002:a9fe:a9fe::1', '::ffff:0:127.0.0.1'],
])('never scans the special address %s by default', (address) => {
  const listed = scanPolicy({ mode: 'on', allow: ['git.example.org', '*.example.org'], deny: [] });
  for (const { permits } of [byDefault, listed]) expect(permits('git.example.org', address)).toBe(false);
});

test.each([
  ...['10.1.2.3', '192.168.0.1', '140.82.121.4', '2606:50c0:8000::64', 'fd12:3456::1', '2001:4860::1'],
  ...['fd00:ec3::23', '64:ff9b::8c52:7904'],
])('scans %s by default', (address) => {
  expect(byDefault.permits('git.example.org', address)).toBe(true);
});

test.each(['', 'git.example.org', '0x7f.1', '2130706433', '127.1', '017700000001', '127.0.0.1:22', '[::1]'])(
  'never scans %j, which is not an address',
  (text) => {
    expect(byDefault.permits(text, text)).toBe(false);
  },
);

test('scans special addresses that the operator has listed, also inside another address', () => {
  const { permits } = scanPolicy({ mode: 'on', allow: ['127.0.0.0/8', '::1'], deny: [] });
  expect(permits('git.example.org', '127.0.0.1')).toBe(true);
  expect(permits('git.example.org', '::ffff:127.0.0.1')).toBe(true);
  expect(permits('git.example.org', '::1')).toBe(true);
  expect(permits('git.example.org', '169.254.169.254')).toBe(false);
});

test('scans only what is listed, if the operator restricts it', () => {
  const allow = ['git.example.org', '*.corp.example', '10.0.0.0/8'];
  const { permits } = scanPolicy({ mode: 'listed', allow, deny: [] });
  expect(permits('git.example.org', '140.82.121.4')).toBe(true);
  expect(permits('Git.Corp.Example.', '140.82.121.4')).toBe(true);
  expect(permits('anything', '10.2.3.4')).toBe(true);
  expect(permits('git.example.com', '140.82.121.4')).toBe(false);
  expect(permits('corp.example', '140.82.121.4')).toBe(false);
  expect(permits('evilgit.example.org', '140.82.121.4')).toBe(false);
});

test('denies before it allows, by name and by address', () => {
  const deny = ['10.9.0.0/16', '*.internal', 'fd00::/8'];
  const { permits } = scanPolicy({ mode: 'on', allow: ['10.0.0.0/8'], deny });
  expect(permits('git.example.org', '10.1.0.1')).toBe(true);
  expect(permits('git.example.org', '10.9.0.1')).toBe(false);
  expect(permits('git.example.org', '::ffff:10.9.0.1')).toBe(false);
  expect(permits('git.example.org', 'fd12::1')).toBe(false);
  expect(permits('git.internal', '140.82.121.4')).toBe(false);
});

test('scans nothing when it is off', () => {
  expect(scanPolicy({ mode: 'off', allow: [], deny: [] }).isOn).toBe(false);
});

const entries = ['10.0.0.0/8', '10.1.2.3', 'fd00::/8', '::1', 'git-1.example.org', '*.example.org', 'localhost'];
test.each(entries)('accepts the entry %s', (entry) => {
  expect(scanEntryProblem(entry)).toBeUndefined();
});

const others = [
  ...['', '10.0.0.0/33', '10.0.0/8', '10.0.0.0/8/8', '300.1.2.3', '*', '*.', 'git example', 'fe80::1%eth0', '::/129'],
  'https://git.example.org',
];
test.each(others)('rejects the entry %j', (entry) => {
  expect(scanEntryProblem(entry)).toMatch(/is not an address such as 10\.0\.0\.0\/8, or a host name/);
});

test('finds the IPv4 address in every notation of it', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      fc.pre(!address.startsWith('0.'));
      const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
      const high = ((a << 8) | b).toString(16);
      const low = ((c << 8) | d).toString(16);
      const mapped = [`::ffff:${address}`, `0:0:0:0:0:ffff:${high}:${low}`];
      for (const text of [...mapped, `64:ff9b::${high}:${low}`, `2002:${high}:${low}::1`])
        expect(embeddedIPv4(text)).toBe(address);
      expect(byDefault.permits('a', `::ffff:${high}:${low}`)).toBe(byDefault.permits('a', address));
    }),
    { seed: 20_261_122, numRuns: 300 },
  );
});
