import { expect, test } from 'vitest';
import { hostKeyLine, sshHost } from '../../shared/ssh/known-hosts.ts';
import { fingerprint, publicLine } from '../../shared/ssh/public-key.ts';
import { type Decision, decide } from './decide.ts';
import { generateIdentity, readIdentity } from './identity.ts';
import { keyComment } from './pair.ts';
import { operationOf, ROTATE_COMPLETE, ROTATE_START } from './pairs.ts';
import type { Situation } from './situation.ts';

const [first, second, third, rsa] = await Promise.all(
  (['ed25519', 'ed25519', 'ed25519', 'rsa'] as const).map(async (type) => {
    const pem = await generateIdentity(type);
    const read = readIdentity(pem);
    if ('problem' in read) throw new Error(read.problem);
    return { pem, line: publicLine(read.publicKey, 'shoot-flux/canary/foo'), mark: fingerprint(read.publicKey) };
  }),
);
if (!first || !second || !third || !rsa) throw new Error('the test keys are missing');
type TestKey = typeof first;

const url = 'ssh://git@git.example.org/fleet';
const hostKey = readIdentity(third.pem);
if ('problem' in hostKey) throw new Error(hostKey.problem);
const known_hosts = `${hostKeyLine(sshHost(url), hostKey.publicKey)}\n`;

const currentData = ({ pem, line }: TestKey) => ({ identity: pem, 'identity.pub': `${line}\n`, known_hosts });
const preparedData = ({ pem, line }: TestKey) => ({ 'identity.next': pem, 'identity.next.pub': `${line}\n` });
const domain = 'flux.extensions.gardener.cloud';
const annotated = ({ line, mark }: TestKey) => ({ [`${domain}/public-key`]: line, [`${domain}/fingerprint`]: mark });
const annotatedNext = ({ line, mark }: TestKey) => ({
  [`${domain}/next-public-key`]: line,
  [`${domain}/next-fingerprint`]: mark,
});
const former = (mark: string) => ({ [`${domain}/former-fingerprint`]: mark });

type Values = Record<string, string>;
const before = { data: currentData(first), annotations: annotated(first), immutable: false };
const between = {
  data: { ...currentData(first), ...preparedData(second) },
  annotations: { ...annotated(first), ...annotatedNext(second) },
  immutable: false,
};
const after = {
  data: currentData(second),
  annotations: { ...annotated(second), ...former(first.mark) },
  immutable: false,
};

function situation(
  secret: { data: Values; annotations: Values; immutable: boolean } | undefined,
  parts: Partial<Situation> & { sshKeyType?: 'rsa' | 'ed25519' } = {},
): Situation {
  const { sshKeyType = 'ed25519', ...rest } = parts;
  const repository = { url, type: 'private', sshKeyType } as const;
  return { namespace: 'garden-foo', landscape: 'canary', repository, secret, ...rest };
}

function decided(of: Situation): Extract<Decision, { type: 'decided' }> {
  const decision = decide(of);
  if (decision.type !== 'decided') throw new Error(`needs ${decision.what}`);
  return decision;
}

const start = { operation: ROTATE_START, nextIdentity: second.pem } as const;
const complete = { operation: ROTATE_COMPLETE } as const;
const reasons = (of: Situation) => decided(of).notices.map(({ reason }) => reason);

test('start: prepares a second pair and reports both', () => {
  expect(decide(situation(before, { operation: ROTATE_START }))).toEqual({ type: 'needs', what: 'nextIdentity' });
  const { change, notices } = decided(situation(before, start));
  expect(change).toEqual({ data: preparedData(second), annotations: annotatedNext(second) });
  expect(notices).toEqual([
    {
      type: 'Normal',
      reason: 'DeployKey',
      message: `Add this public key to ${url} as a deploy key: ${first.line} (${first.mark})`,
    },
    {
      type: 'Normal',
      reason: 'KeyRotationPrepared',
      message: `Add deploy key ${second.mark} to ${url} and annotate this ConfigMap with gardener.cloud/operation=rotate-ssh-keypair-complete: ${second.line}`,
    },
  ]);
});

test('start: creates both pairs when there is none, so that an interrupted run ends the same', () => {
  expect(decide(situation(undefined, start))).toEqual({ type: 'needs', what: 'identity' });
  expect(decided(situation(undefined, { ...start, identity: first.pem })).change?.data).toMatchObject({
    identity: first.pem,
    ...preparedData(second),
  });
});

test.each([
  ['a second start', { operation: ROTATE_START, nextIdentity: third.pem }],
  ['later runs', { nextIdentity: third.pem }],
] as const)('%s: keeps the prepared pair and still reports it', (_, parts) => {
  expect(decided(situation(between, parts)).change).toBeUndefined();
  expect(reasons(situation(between, parts))).toEqual(['DeployKey', 'KeyRotationPrepared']);
});

test('complete: replaces the first pair by the second in one change', () => {
  const { change, notices } = decided(situation(between, complete));
  expect(change).toEqual({
    data: {
      identity: second.pem,
      'identity.pub': `${second.line}\n`,
      'identity.next': null,
      'identity.next.pub': null,
    },
    annotations: {
      ...annotated(second),
      [`${domain}/next-public-key`]: null,
      [`${domain}/next-fingerprint`]: null,
      ...former(first.mark),
    },
  });
  expect(notices.map(({ reason }) => reason)).toEqual(['DeployKey', 'KeyRotationCompleted']);
  expect(notices[1]?.message).toContain(`The key ${second.mark} replaces ${first.mark};`);
});

test('a second complete: reports the same, because the first run may have been killed before its report', () => {
  const again = decided(situation(after, complete));
  expect(again.change).toBeUndefined();
  expect(again.notices).toEqual(decided(situation(between, complete)).notices);
});

test('later runs: remember the former key and do not report it', () => {
  expect(decided(situation(after)).change).toBeUndefined();
  expect(reasons(situation(after))).toEqual(['DeployKey']);
});

test.each([
  ['before any start', before],
  ['after the prepared pair was removed by hand', { ...between, data: currentData(first) }],
])('complete %s: changes no key and reports the remedy', (_, secret) => {
  const { change, notices } = decided(situation(secret, complete));
  expect(change?.data ?? {}).toEqual({});
  expect(notices.at(-1)).toEqual({
    type: 'Warning',
    reason: 'KeyRotationRefused',
    message: expect.stringMatching(
      /^ConfigMap garden-foo\/flux-config: rotate-ssh-keypair-complete was ignored: .*to prepare one, annotate ConfigMap garden-foo\/flux-config with gardener\.cloud\/operation=rotate-ssh-keypair-start\.$/,
    ),
  });
});

test('removes the annotations of a prepared pair that the user has removed', () => {
  expect(decided(situation({ ...between, data: currentData(first) })).change).toEqual({
    data: {},
    annotations: { [`${domain}/next-public-key`]: null, [`${domain}/next-fingerprint`]: null },
  });
});

test('forgets the former key on the next start, and when the user goes back to it', () => {
  const forgotten = { [`${domain}/former-fingerprint`]: null };
  const again = decided(situation(after, { operation: ROTATE_START, nextIdentity: third.pem }));
  expect(again.change?.annotations).toEqual({ ...annotatedNext(third), ...forgotten });
  const back = { ...after, data: currentData(first) };
  expect(decided(situation(back, complete)).change?.annotations).toEqual({ ...annotated(first), ...forgotten });
  expect(reasons(situation(back, complete))).toEqual(['DeployKey', 'KeyRotationRefused']);
});

test('uses a next key that the user provides, and adds its public key', () => {
  const own = { ...before, data: { ...currentData(first), 'identity.next': third.pem } };
  expect(decided(situation(own)).change).toEqual({
    data: { 'identity.next.pub': `${third.line}\n` },
    annotations: annotatedNext(third),
  });
  expect(decided(situation(own, complete)).change?.data).toMatchObject({
    identity: third.pem,
    'identity.pub': `${third.line}\n`,
  });
});

test.each<[string, Values, RegExp]>([
  ['a malformed private key', { 'identity.next': 'marked-secret' }, /: identity\.next is not a private key/],
  [
    'a public key of another pair',
    { ...preparedData(second), 'identity.next.pub': third.line },
    /: identity\.next\.pub does not match identity\.next; remove/,
  ],
  ['a public key alone', { 'identity.next.pub': 'marked-secret' }, /has identity\.next\.pub but no identity\.next/],
  ['the current key', preparedData(first), /: identity\.next is the same key as identity; remove/],
])('reports %s as next pair, leaves it unchanged and completes nothing with it', (_, data, sentence) => {
  const secret = { ...before, data: { ...currentData(first), ...data } };
  for (const parts of [{}, start, complete]) {
    const { change, notices } = decided(situation(secret, parts));
    expect(change).toBeUndefined();
    expect(notices.map(({ reason }) => reason)).toEqual([
      'DeployKey',
      'InvalidSecret',
      ...('operation' in parts ? ['KeyRotationRefused'] : []),
    ]);
    expect(notices[1]?.message).toMatch(sentence);
    expect(JSON.stringify(notices)).not.toContain('marked-secret');
  }
});

test.each([
  `${first.line}\n-----BEGIN PRIVATE KEY-----\nmarked`,
  `${first.line} \u2028marked`,
  `${first.line} \u001b[31mmarked`,
  `${first.line} ${'marked'.repeat(100_000)}`,
])('publishes nothing that follows the public key', (line) => {
  const secret = { data: { ...currentData(first), 'identity.pub': line }, annotations: {}, immutable: false };
  const { change, notices } = decided(situation(secret));
  expect(change).toBeUndefined();
  expect(notices.map(({ message }) => message)).toEqual([
    'Secret garden-foo/flux-source: identity.pub is not one line of at most 16,000 characters; remove identity.pub to have it derived again.',
  ]);
});

test('rejects a start while the current key is invalid, and lets a completion replace it', () => {
  const damaged = { ...between, data: { ...between.data, identity: 'marked-secret' } };
  expect(decided(situation(damaged, start)).change).toBeUndefined();
  expect(reasons(situation(damaged, start))).toEqual(['InvalidSecret', 'KeyRotationRefused']);
  expect(decided(situation(damaged, complete)).change).toMatchObject({
    data: { identity: second.pem },
    annotations: former(first.mark),
  });
});

test('complete: needs no current key and creates none', () => {
  const { identity, 'identity.pub': publicKey, ...data } = between.data;
  expect(decided(situation({ ...between, data }, complete)).change?.data).toMatchObject({ identity: second.pem });
});

test('rejects the rotation of an immutable Secret', () => {
  const immutable = { ...before, immutable: true };
  expect(decided(situation(immutable, start)).change).toBeUndefined();
  expect(reasons(situation(immutable, start))).toEqual(['InvalidSecret', 'KeyRotationRefused']);
});

test('reports another sshKeyType until the rotation to it has started', () => {
  expect(reasons(situation(before, { sshKeyType: 'rsa' }))).toEqual(['DeployKey', 'KeyTypeIgnored']);
  const moving = {
    ...before,
    data: { ...currentData(first), ...preparedData(rsa) },
    annotations: { ...annotated(first), ...annotatedNext(rsa) },
  };
  expect(reasons(situation(moving, { sshKeyType: 'rsa' }))).toEqual(['DeployKey', 'KeyRotationPrepared']);
  expect(reasons(situation(moving, { sshKeyType: 'rsa', ...complete }))).toEqual(['DeployKey', 'KeyRotationCompleted']);
});

test('keeps the prepared pair when sshKeyType changes after the start', () => {
  for (const parts of [{ sshKeyType: 'rsa' }, { sshKeyType: 'rsa', ...start, nextIdentity: rsa.pem }] as const) {
    expect(decided(situation(between, parts)).change).toBeUndefined();
    expect(decided(situation(between, parts)).notices.at(-1)).toMatchObject({
      reason: 'KeyTypeIgnored',
      message: expect.stringContaining(
        'identity.next is a key of type ssh-ed25519, but sshKeyType is rsa; to replace it',
      ),
    });
  }
});

test('fits the prepared RSA key into an Event, apart from the end of its comment', () => {
  const long = situation(before, { operation: ROTATE_START, nextIdentity: rsa.pem, sshKeyType: 'rsa' });
  const message = decided(long).notices.find(({ reason }) => reason === 'KeyRotationPrepared')?.message ?? '';
  expect(message.slice(0, 1000)).toContain(rsa.line.split(' ')[1]);
});

test.each([
  ['garden-foo', 'canary', 'shoot-flux/canary/foo'],
  ['garden', 'canary', 'shoot-flux/canary/garden'],
  ['own-name', 'my landscape\n', 'shoot-flux/my-landscape/own-name'],
])('gives the key of namespace %s in landscape %j the comment %s', (namespace, landscape, comment) => {
  expect(keyComment(namespace, landscape)).toBe(comment);
});

test.each([
  [undefined, undefined],
  [{}, undefined],
  [{ 'gardener.cloud/operation': 'rotate-ssh-keypair-start' }, 'rotate-ssh-keypair-start'],
  [{ 'gardener.cloud/operation': 'rotate-ssh-keypair-complete' }, 'rotate-ssh-keypair-complete'],
])('reads %j as operation %s', (annotations, operation) => {
  expect(operationOf('garden-foo', annotations)).toEqual(
    operation === undefined ? { notices: [] } : { operation, notices: [] },
  );
});

test.each(['rotate-ssh-keypair', 'reconcile', ''])('reports %j as unknown and leaves it there', (value) => {
  const { operation, notices } = operationOf('garden-foo', { 'gardener.cloud/operation': value });
  expect(operation).toBeUndefined();
  expect(notices).toEqual([
    {
      type: 'Warning',
      reason: 'UnknownOperation',
      message: `ConfigMap garden-foo/flux-config: annotation gardener.cloud/operation has the unknown value ${JSON.stringify(value)}; use rotate-ssh-keypair-start or rotate-ssh-keypair-complete.`,
    },
  ]);
});
