import ssh2 from 'ssh2';
import { expect, test } from 'vitest';
import { ROTATE_COMPLETE, ROTATE_START } from '../../shared/config/project-config.ts';
import { generateIdentity, readIdentity } from '../../shared/ssh/identity.ts';
import { hostKeyLine, sshHost } from '../../shared/ssh/known-hosts.ts';
import { fingerprint, type PublicKey, publicLine } from '../../shared/ssh/public-key.ts';
import { decide } from './decide.ts';
import { keyComment, type Operation, operationOf } from './pairs.ts';
import { publishedHostKeys } from './published-host-keys.ts';

async function testKey(type: 'ed25519' | 'rsa' = 'ed25519') {
  const pem = await generateIdentity(type);
  const read = readIdentity(pem);
  if ('problem' in read) throw new Error(read.problem);
  const { publicKey } = read;
  return { pem, publicKey, line: publicLine(publicKey, 'shoot-flux/canary/foo'), mark: fingerprint(publicKey) };
}
type TestKey = Awaited<ReturnType<typeof testKey>>;
const [first, second, third, rsa] = await Promise.all([testKey(), testKey(), testKey(), testKey('rsa')]);

const github = 'ssh://git@github.com/org/fleet';
const linesOf = (url: string, keys: PublicKey[]) => keys.map((key) => `${hostKeyLine(sshHost(url), key)}\n`).join('');
const known_hosts = linesOf(github, publishedHostKeys(sshHost(github)));
const own = 'ssh://git@git.example.org:2222/fleet';
const hostKey = third.publicKey;
const ownLine = linesOf(own, [hostKey]);
const trusted = `[git.example.org]:2222 ${third.mark}`;

type Values<V = string> = Record<string, V>;
const pairData = ({ pem, line }: TestKey) => ({ identity: pem, 'identity.pub': `${line}\n` });
const nextData = ({ pem, line }: TestKey) => ({ 'identity.next': pem, 'identity.next.pub': `${line}\n` });
const noNext = { 'identity.next': null, 'identity.next.pub': null };
const named = <V>(values: Values<V>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`flux.extensions.gardener.cloud/${name}`, value]));
const annotated = ({ line, mark }: TestKey) => named({ 'public-key': line, fingerprint: mark });
const annotatedNext = ({ line, mark }: TestKey) => named({ 'next-public-key': line, 'next-fingerprint': mark });
const notAnnotatedNext = named({ 'next-public-key': null, 'next-fingerprint': null });
const former = ({ mark }: TestKey) => named({ 'former-fingerprint': mark });

const complete = { ...pairData(first), known_hosts };
const before = { data: complete, annotations: annotated(first) };
const between = {
  data: { ...complete, ...nextData(second) },
  annotations: { ...annotated(first), ...annotatedNext(second) },
};
const after = {
  data: { ...pairData(second), known_hosts },
  annotations: { ...annotated(second), ...former(first) },
};
const start: Parts = { operation: ROTATE_START, generated: [second] };
const completion: Parts = { operation: ROTATE_COMPLETE };

interface Parts {
  url?: string;
  knownHosts?: string;
  sshKeyType?: 'ed25519' | 'rsa';
  operation?: Operation;
  /** Of the Secret; absent: there is none. */
  data?: Values;
  annotations?: Values;
  immutable?: boolean;
  /** The keys that may be generated. */
  generated?: TestKey[];
  /** What the host presents; absent: it must not be asked. */
  presents?: PublicKey | 'nothing';
}

async function decided(parts: Parts = {}) {
  const { url = github, knownHosts, sshKeyType = 'ed25519', operation, data, presents } = parts;
  const { annotations = annotated(first), immutable = false } = parts;
  const generated = [...(parts.generated ?? [])];
  const { change, notices, retry } = await decide(
    {
      ...{ namespace: 'garden-foo', landscape: 'canary', operation },
      repository: { url, type: 'private', knownHosts, sshKeyType },
      secret: data && { data, annotations, immutable },
    },
    {
      async newIdentity() {
        const key = generated.shift();
        if (key === undefined) throw new Error('no key may be generated');
        return key.pem;
      },
      async scanHostKey() {
        if (presents === undefined) throw new Error('the host must not be asked');
        return presents === 'nothing' ? undefined : presents;
      },
    },
  );
  return { change, notices, retry, reasons: notices.map(({ reason }) => reason) };
}

test('writes a complete Secret and reports the deploy key', async () => {
  const { change, notices, retry } = await decided({ generated: [first] });
  expect(change).toEqual({ data: complete, annotations: annotated(first) });
  const message = `Add this public key to ${github} as a deploy key: ${first.line} (${first.mark})`;
  expect(notices).toEqual([{ type: 'Normal', reason: 'DeployKey', message }]);
  expect(retry).not.toBe(true);
});

test('generates a key where the Secret has only other content', async () => {
  expect((await decided({ data: { known_hosts }, generated: [second] })).change?.data).toEqual(pairData(second));
});

test.each([
  ['nothing', complete, undefined],
  ['identity.pub', { identity: first.pem, known_hosts }, { 'identity.pub': `${first.line}\n` }],
  ['known_hosts', pairData(first), { known_hosts }],
  ['both', { identity: first.pem }, { 'identity.pub': `${first.line}\n`, known_hosts }],
])('adds what is missing and keeps the existing key: %s', async (_, data, written) => {
  expect((await decided({ data })).change).toEqual(written && { data: written, annotations: {} });
});

test('keeps the comment of an existing identity.pub, also in the annotation', async () => {
  const mine = publicLine(first.publicKey, 'my own comment');
  expect((await decided({ data: { ...complete, 'identity.pub': mine } })).change).toEqual({
    data: {},
    annotations: named({ 'public-key': mine }),
  });
});

const notOneLine = /: identity\.pub is not one line of at most 16,000 characters; remove identity\.pub to have it/;
test.each<[string, Values, RegExp]>([
  ['a malformed private key', { identity: 'marked' }, /Secret garden-foo\/flux-source: identity .*; replace it/],
  ['a public key of another pair', { 'identity.pub': second.line }, /identity\.pub does not match identity; remove/],
  ['a malformed public key', { 'identity.pub': 'marked' }, /identity\.pub does not match identity; remove/],
  ['lines after a public key', { 'identity.pub': `${first.line}\n-----BEGIN PRIVATE KEY-----\nmarked` }, notOneLine],
  ['a separator in a public key', { 'identity.pub': `${first.line} \u2028marked` }, notOneLine],
  ['an escape sequence', { 'identity.pub': `${first.line} \u001b[31mmarked` }, notOneLine],
  ['a long comment', { 'identity.pub': `${first.line} ${'marked'.repeat(100_000)}` }, notOneLine],
])('reports %s and writes nothing', async (_, data, sentence) => {
  const { change, notices } = await decided({ data: { ...complete, ...data }, annotations: {} });
  expect(change).toBeUndefined();
  expect(notices).toEqual([{ type: 'Warning', reason: 'InvalidSecret', message: expect.stringMatching(sentence) }]);
  expect(JSON.stringify(notices)).not.toContain('marked');
});

test('reports a public key alone', async () => {
  const { change, notices } = await decided({ data: { 'identity.pub': first.line } });
  expect(change).toBeUndefined();
  expect(notices).toMatchObject([{ message: expect.stringContaining('has identity.pub but no identity; add') }]);
});

test('reports an immutable Secret only when it has to change', async () => {
  expect((await decided({ ...before, immutable: true })).reasons).toEqual(['DeployKey']);
  expect((await decided({ data: { identity: first.pem }, immutable: true })).reasons).toEqual(['InvalidSecret']);
  const { change, reasons } = await decided({ ...before, ...start, immutable: true });
  expect(change).toBeUndefined();
  expect(reasons).toEqual(['InvalidSecret', 'KeyRotationRefused']);
});

test('prefers the host keys of the configuration, and follows their changes', async () => {
  const given = { knownHosts: ownLine.trim(), url: own };
  expect((await decided({ ...given, generated: [first] })).change?.data.known_hosts).toBe(ownLine);
  const old = { ...complete, known_hosts: linesOf(own, [first.publicKey]) };
  expect((await decided({ ...given, data: old })).change).toEqual({ data: { known_hosts: ownLine }, annotations: {} });
  expect((await decided({ ...given, data: { ...complete, known_hosts: ownLine.trim() } })).change).toBeUndefined();
});

test('prefers the host keys of the Secret to published and scanned ones', async () => {
  const mine = linesOf(github, [hostKey]);
  expect((await decided({ data: { ...complete, known_hosts: mine }, knownHosts: 'scan' })).change).toBeUndefined();
});

test('keeps the existing host keys when the host changes, and adds the new ones', async () => {
  const { change } = await decided({ data: { ...complete, known_hosts: ownLine } });
  expect(change).toEqual({ data: { known_hosts: `${ownLine}${known_hosts}` }, annotations: {} });
});

test('writes the key pair and explains how to provide host keys for an unknown host', async () => {
  const { change, notices, reasons, retry } = await decided({ url: own, generated: [first] });
  expect(change?.data).toEqual(pairData(first));
  expect(reasons).toEqual(['DeployKey', 'HostKeysMissing']);
  expect(notices[1]?.message).toMatch(
    /ConfigMap garden-foo\/flux-config: knownHosts .*ssh-keyscan -p 2222 git\.example\.org prints \(they begin with \[git\.example\.org\]:2222\), or set "scan"/,
  );
  expect(retry).not.toBe(true);
});

const scan = { url: own, knownHosts: 'scan' };

test('writes, remembers and reports a key trusted on first use, and reports it again in later runs', async () => {
  const { change, notices } = await decided({ ...scan, generated: [first], presents: hostKey });
  const annotations = { ...annotated(first), ...named({ 'trusted-host-key': trusted }) };
  expect(change).toEqual({ data: { ...complete, known_hosts: ownLine }, annotations });
  expect(notices[1]).toMatchObject({
    ...{ type: 'Normal', reason: 'HostKeyTrusted' },
    message: expect.stringContaining(third.mark),
  });
  const later = await decided({ ...scan, data: { ...complete, known_hosts: ownLine }, annotations });
  expect(later).toMatchObject({ change: undefined, notices });
});

test('scans no host whose keys are published', async () => {
  expect((await decided({ knownHosts: 'scan', generated: [first] })).change?.data).toEqual(complete);
});

test('removes the annotation about trust when the configuration lists the host keys', async () => {
  const { change, reasons } = await decided({
    ...{ url: own, knownHosts: ownLine, data: { ...complete, known_hosts: ownLine } },
    annotations: { ...annotated(first), ...named({ 'trusted-host-key': trusted }) },
  });
  expect(change).toEqual({ data: {}, annotations: named({ 'trusted-host-key': null }) });
  expect(reasons).toEqual(['DeployKey']);
});

test('reports a host that presents no key, and retries', async () => {
  const { change, reasons, retry } = await decided({ ...scan, generated: [first], presents: 'nothing' });
  expect(change?.data.known_hosts).toBeUndefined();
  expect(reasons).toEqual(['DeployKey', 'HostKeysMissing']);
  expect(retry).toBe(true);
});

test('start: prepares a second pair and reports both', async () => {
  const { change, notices } = await decided({ ...before, ...start });
  expect(change).toEqual({ data: nextData(second), annotations: annotatedNext(second) });
  expect(notices).toEqual([
    expect.objectContaining({ reason: 'DeployKey', message: expect.stringContaining(first.line) }),
    {
      ...{ type: 'Normal', reason: 'KeyRotationPrepared' },
      message: `Add key ${second.mark} to ${github} as a deploy key and annotate this ConfigMap with gardener.cloud/operation=rotate-ssh-keypair-complete: ${second.line}`,
    },
  ]);
});

test('start: creates both pairs when there is none, so that an interrupted run ends the same', async () => {
  const { change } = await decided({ ...start, generated: [first, second] });
  expect(change?.data).toMatchObject({ ...pairData(first), ...nextData(second) });
});

test.each([
  ['a second start', { operation: ROTATE_START }],
  ['later runs', {}],
] as const)('%s: keeps the prepared pair and still reports it', async (_, parts) => {
  const { change, reasons } = await decided({ ...between, ...parts });
  expect(change).toBeUndefined();
  expect(reasons).toEqual(['DeployKey', 'KeyRotationPrepared']);
});

test('complete: replaces the first pair by the second in one change, and reports it again in a second run', async () => {
  const { change, notices, reasons } = await decided({ ...between, ...completion });
  expect(change).toEqual({
    data: { ...pairData(second), ...noNext },
    annotations: { ...annotated(second), ...notAnnotatedNext, ...former(first) },
  });
  expect(reasons).toEqual(['DeployKey', 'KeyRotationCompleted']);
  expect(notices[1]?.message).toContain(`The key ${second.mark} replaces ${first.mark};`);
  // The first run may have been killed before its report.
  expect(await decided({ ...after, ...completion })).toMatchObject({ change: undefined, notices });
});

test('later runs: remember the former key and do not report it', async () => {
  expect(await decided(after)).toMatchObject({ change: undefined, reasons: ['DeployKey'] });
});

test.each([
  ['before any start', before],
  ['after the prepared pair was removed by hand', { ...between, data: complete }],
])('complete %s: changes no key and reports the remedy', async (_, secret) => {
  const { change, notices } = await decided({ ...secret, ...completion });
  expect(change?.data ?? {}).toEqual({});
  expect(notices.at(-1)).toEqual({
    ...{ type: 'Warning', reason: 'KeyRotationRefused' },
    message: expect.stringMatching(
      /^ConfigMap garden-foo\/flux-config: rotate-ssh-keypair-complete was ignored: .*to prepare one, annotate ConfigMap garden-foo\/flux-config with gardener\.cloud\/operation=rotate-ssh-keypair-start\.$/,
    ),
  });
});

test('removes the annotations of a prepared pair that the user has removed', async () => {
  const { change } = await decided({ ...between, data: complete });
  expect(change).toEqual({ data: {}, annotations: notAnnotatedNext });
});

test('forgets the former key on the next start, and when the user goes back to it', async () => {
  const forgotten = named({ 'former-fingerprint': null });
  const again = await decided({ ...after, operation: ROTATE_START, generated: [third] });
  expect(again.change?.annotations).toEqual({ ...annotatedNext(third), ...forgotten });
  const back = await decided({ ...after, data: complete, ...completion });
  expect(back.change?.annotations).toEqual({ ...annotated(first), ...forgotten });
  expect(back.reasons).toEqual(['DeployKey', 'KeyRotationRefused']);
});

test('uses a next key that the user provides, and adds its public key', async () => {
  const provided = { ...before, data: { ...complete, 'identity.next': third.pem } };
  expect((await decided(provided)).change).toEqual({
    data: { 'identity.next.pub': `${third.line}\n` },
    annotations: annotatedNext(third),
  });
  expect((await decided({ ...provided, ...completion })).change?.data).toMatchObject(pairData(third));
});

test.each<[string, Values, RegExp]>([
  ['a malformed private key', { 'identity.next': 'marked' }, /: identity\.next is not a private key/],
  [
    'a public key of another pair',
    { ...nextData(second), 'identity.next.pub': third.line },
    /: identity\.next\.pub does not match identity\.next; remove/,
  ],
  ['a public key alone', { 'identity.next.pub': 'marked' }, /has identity\.next\.pub but no identity\.next/],
  ['the current key', nextData(first), /: identity\.next is the same key as identity; remove/],
])('reports %s as next pair, leaves it unchanged and completes nothing with it', async (_, data, sentence) => {
  for (const parts of [{}, { operation: ROTATE_START } as const, completion]) {
    const { change, notices, reasons } = await decided({ ...before, data: { ...complete, ...data }, ...parts });
    expect(change).toBeUndefined();
    const refused = 'operation' in parts ? ['KeyRotationRefused'] : [];
    expect(reasons).toEqual(['DeployKey', 'InvalidSecret', ...refused]);
    expect(notices[1]?.message).toMatch(sentence);
    expect(JSON.stringify(notices)).not.toContain('marked');
  }
});

test('rejects a start while the current key is invalid, and lets a completion replace it', async () => {
  const damaged = { ...between, data: { ...between.data, identity: 'marked' } };
  const started = await decided({ ...damaged, operation: ROTATE_START });
  expect(started).toMatchObject({ change: undefined, reasons: ['InvalidSecret', 'KeyRotationRefused'] });
  expect((await decided({ ...damaged, ...completion })).change).toMatchObject({
    data: { identity: second.pem },
    annotations: former(first),
  });
});

test('complete: needs no current key and creates none', async () => {
  const { change } = await decided({ ...between, data: { ...nextData(second), known_hosts }, ...completion });
  expect(change?.data).toMatchObject({ identity: second.pem });
});

test('reports another sshKeyType until the rotation to it has started', async () => {
  const toRsa = { sshKeyType: 'rsa' } as const;
  expect((await decided({ ...before, ...toRsa })).reasons).toEqual(['DeployKey', 'KeyTypeIgnored']);
  const moving = {
    ...{ data: { ...complete, ...nextData(rsa) }, ...toRsa },
    annotations: { ...annotated(first), ...annotatedNext(rsa) },
  };
  expect((await decided(moving)).reasons).toEqual(['DeployKey', 'KeyRotationPrepared']);
  expect((await decided({ ...moving, ...completion })).reasons).toEqual(['DeployKey', 'KeyRotationCompleted']);
});

const azure = 'ssh://git@ssh.dev.azure.com/v3/org/project/fleet';
const codeCommit = 'ssh://git@git-codecommit.ap-southeast-2.amazonaws.com/v1/repos/fleet';

test('names the host whose key type an existing pair lacks, and the way out', async () => {
  const rsaOnly = { url: azure, sshKeyType: 'rsa' } as const;
  const { notices } = await decided({ ...before, ...rsaOnly });
  expect(notices.map(({ message }) => message)).toEqual([
    'Secret garden-foo/flux-source: Azure DevOps takes RSA keys only, but the existing key is ssh-ed25519; to replace it, annotate ConfigMap garden-foo/flux-config with gardener.cloud/operation=rotate-ssh-keypair-start.',
  ]);
  expect((await decided({ data: { ...complete, ...pairData(rsa) }, ...rsaOnly })).notices).toMatchObject([
    { message: `Add this public key in Azure DevOps under User settings, SSH public keys: ${rsa.line} (${rsa.mark})` },
  ]);
  const moving = await decided({ ...before, ...rsaOnly, data: { ...complete, ...nextData(second) } });
  expect(moving.notices.at(-1)?.message).toContain('ssh-ed25519, but Azure DevOps takes RSA keys only; to replace it');
  expect(moving.reasons).toEqual(['KeyTypeIgnored']);
  const moved = { ...{ data: { ...complete, ...nextData(rsa) } }, ...rsaOnly, ...completion };
  expect((await decided(moved)).notices.at(-1)?.message).toContain('remove the old one from Azure DevOps once Flux');
});

test('says that a passphrase ends with a line break', async () => {
  const { private: identity } = ssh2.utils.generateKeyPairSync('ed25519', {
    ...{ passphrase: 'marked', cipher: 'aes256-ctr', rounds: 4 },
  });
  const { notices } = await decided({ data: { identity, known_hosts, password: 'marked\n' } });
  expect(notices.map(({ message }) => message)).toEqual([
    "Secret garden-foo/flux-source: identity is encrypted, and password ends with a line break, which Flux takes as a part of the passphrase; write it without one, for example with printf '%s' instead of echo.",
  ]);
});

test('keeps the prepared pair when sshKeyType changes after the start', async () => {
  for (const parts of [{}, { operation: ROTATE_START }] as const) {
    const { change, notices } = await decided({ ...between, sshKeyType: 'rsa', ...parts });
    expect(change).toBeUndefined();
    expect(notices.at(-1)).toMatchObject({
      reason: 'KeyTypeIgnored',
      message: expect.stringContaining(
        'identity.next is a key of type ssh-ed25519, but sshKeyType is rsa; to replace it',
      ),
    });
  }
});

test('fits the prepared RSA key into an Event, apart from the end of its comment', async () => {
  for (const url of [github, azure, codeCommit]) {
    const { notices } = await decided({ ...before, url, operation: ROTATE_START, generated: [rsa], sshKeyType: 'rsa' });
    const message = notices.find(({ reason }) => reason === 'KeyRotationPrepared')?.message ?? '';
    expect(message.slice(0, 1000)).toContain(rsa.line.split(' ')[1]);
  }
});

test.each([
  ['garden-foo', 'canary', 'shoot-flux/canary/foo'],
  ['own-name', 'my landscape\n', 'shoot-flux/my-landscape/own-name'],
])('gives the key of namespace %s in landscape %j the comment %s', (namespace, landscape, comment) => {
  expect(keyComment(namespace, landscape)).toBe(comment);
});

const asking = (value: string) => ({ 'gardener.cloud/operation': value });

test.each([undefined, ROTATE_START, ROTATE_COMPLETE])('reads the requested operation %s', (value) => {
  const annotations = value === undefined ? undefined : asking(value);
  expect(operationOf('garden-foo', annotations)).toEqual({ ...(value && { operation: value }), notices: [] });
});

test.each(['rotate-ssh-keypair', ''])('reports the operation %j as unknown and leaves it there', (value) => {
  expect(operationOf('garden-foo', asking(value))).toEqual({
    notices: [
      {
        ...{ type: 'Warning', reason: 'UnknownOperation' },
        message: `ConfigMap garden-foo/flux-config: annotation gardener.cloud/operation has the unknown value ${JSON.stringify(value)}; use rotate-ssh-keypair-start or rotate-ssh-keypair-complete.`,
      },
    ],
  });
});
