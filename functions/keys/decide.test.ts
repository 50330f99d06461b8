import { expect, test } from 'vitest';
import { hostKeyLine, hostPattern, sshHost } from '../../shared/ssh/known-hosts.ts';
import { fingerprint, publicLine } from '../../shared/ssh/public-key.ts';
import { type Decision, decide } from './decide.ts';
import { generateIdentity, readIdentity } from './identity.ts';
import { publishedHostKeys } from './published-host-keys.ts';
import type { Situation } from './situation.ts';
import { FINGERPRINT, PUBLIC_KEY, TRUSTED_HOST_KEY } from './situation.ts';

const identity = await generateIdentity('ed25519');
const another = await generateIdentity('ed25519');
const publicOf = (pem: string) => {
  const read = readIdentity(pem);
  if ('problem' in read) throw new Error(read.problem);
  return read.publicKey;
};
const key = publicOf(identity);
const line = publicLine(key, 'shoot-flux/canary/foo');
const hostKey = publicOf(another);

const github = 'ssh://git@github.com/org/fleet';
const own = 'ssh://git@git.example.org:2222/fleet';
const ownHost = sshHost(own);
const ownLine = `${hostKeyLine(ownHost, hostKey)}\n`;
const githubLines = publishedHostKeys(sshHost(github))
  .map((published) => `${hostKeyLine(sshHost(github), published)}\n`)
  .join('');
const trusted = `${hostPattern(ownHost)} ${fingerprint(hostKey)}`;

const complete = { identity, 'identity.pub': `${line}\n`, known_hosts: githubLines };
const shown = { [PUBLIC_KEY]: line, [FINGERPRINT]: fingerprint(key) };

function situation({
  url = github,
  knownHosts,
  sshKeyType = 'ed25519',
  ...rest
}: Partial<Situation['repository']> & Partial<Situation> = {}): Situation {
  return {
    namespace: 'garden-foo',
    landscape: 'canary',
    repository: { url, type: 'private', knownHosts, sshKeyType },
    ...rest,
  };
}

function secret(data: Record<string, string>, annotations: Record<string, string> = shown, immutable = false) {
  return { secret: { data, annotations, immutable } };
}

function decided(of: Situation): Extract<Decision, { type: 'decided' }> {
  const decision = decide(of);
  if (decision.type !== 'decided') throw new Error(`needs ${decision.what}`);
  return decision;
}

const reasons = (of: Situation) => decided(of).notices.map(({ reason }) => reason);

test('asks for a new key only when the Secret has none', () => {
  expect(decide(situation())).toEqual({ type: 'needs', what: 'identity' });
  expect(decide(situation(secret({ known_hosts: ownLine })))).toEqual({ type: 'needs', what: 'identity' });
  expect(decide(situation({ ...secret(complete), identity: another })).type).toBe('decided');
});

test('writes a complete Secret and reports the deploy key', () => {
  const { change, notices, retry } = decided(situation({ identity }));
  expect(change).toEqual({ data: complete, annotations: shown });
  expect(notices).toEqual([
    {
      type: 'Normal',
      reason: 'DeployKey',
      message: `Add this public key to ${github} as a deploy key: ${line} (${fingerprint(key)})`,
    },
  ]);
  expect(retry).toBe(false);
});

test('leaves a complete Secret unchanged, also when a new key is available', () => {
  expect(decided(situation({ ...secret(complete), identity: another })).change).toBeUndefined();
});

test.each([
  ['identity.pub', { identity, known_hosts: githubLines }, { 'identity.pub': `${line}\n` }],
  ['known_hosts', { identity, 'identity.pub': `${line}\n` }, { known_hosts: githubLines }],
  ['both', { identity }, { 'identity.pub': `${line}\n`, known_hosts: githubLines }],
])('adds a missing %s and keeps the existing key', (_, data, written) => {
  expect(decided(situation(secret(data))).change).toEqual({ data: written, annotations: {} });
});

test('keeps the comment of an existing identity.pub, also in the annotation', () => {
  const mine = publicLine(key, 'my own comment');
  expect(decided(situation(secret({ ...complete, 'identity.pub': mine }))).change).toEqual({
    data: {},
    annotations: { [PUBLIC_KEY]: mine },
  });
});

test.each([
  [
    'a malformed private key',
    { ...complete, identity: 'marked-secret' },
    /Secret garden-foo\/flux-source: identity .*; replace it/,
  ],
  [
    'a public key of another pair',
    { ...complete, 'identity.pub': publicLine(hostKey) },
    /identity\.pub does not match identity; remove/,
  ],
  [
    'a malformed public key',
    { ...complete, 'identity.pub': 'marked-secret' },
    /identity\.pub does not match identity; remove/,
  ],
  ['a public key alone', { 'identity.pub': line }, /has identity\.pub but no identity; add/],
])('reports %s and writes nothing', (_, data, sentence) => {
  const { change, notices } = decided(situation({ ...secret(data, {}), identity: another }));
  expect(change).toBeUndefined();
  expect(notices).toEqual([{ type: 'Warning', reason: 'InvalidSecret', message: expect.stringMatching(sentence) }]);
  expect(JSON.stringify(notices)).not.toContain('marked-secret');
});

test('reports an immutable Secret only when something is missing', () => {
  expect(reasons(situation(secret(complete, shown, true)))).toEqual(['DeployKey']);
  expect(reasons(situation(secret({ identity }, shown, true)))).toEqual(['InvalidSecret']);
});

test('reports sshKeyType rsa when a key of another type exists', () => {
  expect(reasons(situation({ ...secret(complete), sshKeyType: 'rsa' }))).toEqual(['DeployKey', 'KeyTypeIgnored']);
});

test('prefers the host keys of the configuration, and follows their changes', () => {
  const given = { knownHosts: ownLine.trim(), url: own };
  const fresh = decided(situation({ ...given, identity }));
  expect(fresh.change?.data.known_hosts).toBe(ownLine);
  const old = `${hostKeyLine(ownHost, key)}\n`;
  const changed = decided(situation({ ...given, ...secret({ ...complete, known_hosts: old }) }));
  expect(changed.change).toEqual({ data: { known_hosts: ownLine }, annotations: {} });
  expect(
    decided(situation({ ...given, ...secret({ ...complete, known_hosts: ownLine.trim() }) })).change,
  ).toBeUndefined();
});

test('keeps the existing host keys when the configuration only has keys of another host', () => {
  const { change, notices } = decided(situation({ knownHosts: ownLine, ...secret(complete) }));
  expect(change).toBeUndefined();
  expect(notices.at(-1)).toMatchObject({
    type: 'Warning',
    reason: 'HostKeysMissing',
    message: expect.stringContaining('no key for github.com'),
  });
});

test('prefers the host keys of the Secret to published and scanned ones', () => {
  const mine = `${hostKeyLine(sshHost(github), hostKey)}\n`;
  expect(
    decided(situation({ ...secret({ ...complete, known_hosts: mine }), knownHosts: 'scan' })).change,
  ).toBeUndefined();
});

test('keeps the existing host keys when the host changes, and adds the new ones', () => {
  const moved = decided(situation(secret({ ...complete, known_hosts: ownLine })));
  expect(moved.change).toEqual({ data: { known_hosts: `${ownLine}${githubLines}` }, annotations: {} });
});

test('writes the key pair and explains how to provide host keys for an unknown host', () => {
  const { change, notices, retry } = decided(situation({ url: own, identity }));
  expect(Object.keys(change?.data ?? {})).toEqual(['identity', 'identity.pub']);
  expect(notices.map(({ reason }) => reason)).toEqual(['DeployKey', 'HostKeysMissing']);
  expect(notices[1]?.message).toMatch(
    /ConfigMap garden-foo\/flux-config: knownHosts .*ssh-keyscan.*\[git\.example\.org\]:2222.*scan/,
  );
  expect(retry).toBe(false);
});

const scan = { url: own, knownHosts: 'scan' };

test('scans a host only when configured and when its keys are not known', () => {
  expect(decide(situation({ ...scan, identity }))).toEqual({ type: 'needs', what: 'scannedHostKey' });
  expect(decide(situation({ ...scan, url: github, identity })).type).toBe('decided');
});

test('writes, remembers and reports a key trusted on first use, and reports it again in later runs', () => {
  const first = decided(situation({ ...scan, identity, scannedHostKey: hostKey }));
  expect(first.change).toEqual({
    data: { ...complete, known_hosts: ownLine },
    annotations: { ...shown, [TRUSTED_HOST_KEY]: trusted },
  });
  expect(first.notices[1]).toMatchObject({
    type: 'Normal',
    reason: 'HostKeyTrusted',
    message: expect.stringContaining(fingerprint(hostKey)),
  });
  const later = decided(
    situation({ ...scan, ...secret({ ...complete, known_hosts: ownLine }, { ...shown, [TRUSTED_HOST_KEY]: trusted }) }),
  );
  expect(later.change).toBeUndefined();
  expect(later.notices).toEqual(first.notices);
});

test('removes the annotation about trust when the configuration lists the host keys', () => {
  const given = situation({
    url: own,
    knownHosts: ownLine,
    ...secret({ ...complete, known_hosts: ownLine }, { ...shown, [TRUSTED_HOST_KEY]: trusted }),
  });
  expect(decided(given).change).toEqual({ data: {}, annotations: { [TRUSTED_HOST_KEY]: null } });
  expect(reasons(given)).toEqual(['DeployKey']);
});

test('reports a host that presents no key, and retries', () => {
  const { change, notices, retry } = decided(situation({ ...scan, identity, scannedHostKey: 'none' }));
  expect(change?.data.known_hosts).toBeUndefined();
  expect(notices[1]).toMatchObject({ type: 'Warning', reason: 'HostKeysMissing' });
  expect(retry).toBe(true);
});
