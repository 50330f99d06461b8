import { type GitRepository, type GitServer, startGitServer } from '@shoot-flux/landscape/git';
import type { RequestSummary } from '@shoot-flux/landscape/kube-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateIdentity, readIdentity } from '../../functions/keys/identity.ts';
import { done, requeueAfter } from '../../shared/runtime/outcome.ts';
import { fingerprint, parsePublicLine } from '../../shared/ssh/public-key.ts';
import { installationRbac, installationUser } from '../scenarios/identities.ts';
import { fluxConfig, fluxSource } from './garden.ts';
import {
  annotationsOf,
  before,
  eventsOf,
  expectRest,
  gardenWith,
  gather,
  github,
  reasonsOf,
  secretOf,
} from './keys-garden.ts';

let git: GitServer;
let repository: GitRepository;
beforeAll(async () => {
  git = await startGitServer();
  repository = await git.createRepository('fleet', { 'README.md': '# fleet\n' });
});
afterAll(() => git.stop());

test.each(['ed25519', 'rsa'])('creates one key pair of type %s for a private repository', async (sshKeyType) => {
  await using garden = await gardenWith({ ...github, sshKeyType });
  expect(await garden.run()).toEqual(done);
  const secret = secretOf(garden);
  const key = parsePublicLine(secret?.['identity.pub'] ?? '');
  expect(Object.keys(secret ?? {}).sort()).toEqual(['identity', 'identity.pub', 'known_hosts']);
  expect(readIdentity(secret?.identity ?? '')).toEqual({ publicKey: key });
  expect(key?.type).toBe(`ssh-${sshKeyType}`);
  expect(secret?.['identity.pub']).toMatch(/ shoot-flux\/canary\/foo\n$/);
  expect(secret?.known_hosts).toMatch(/^github\.com ssh-ed25519 /);

  const shown = key && fingerprint(key);
  expect(annotationsOf(garden)).toEqual({
    'flux.extensions.gardener.cloud/public-key': secret?.['identity.pub']?.trim(),
    'flux.extensions.gardener.cloud/fingerprint': shown,
  });
  const { uid } = garden.api.objects.get(fluxConfig({})).metadata;
  expect(eventsOf(garden)).toEqual([
    {
      type: 'Normal',
      reason: 'DeployKey',
      message: expect.stringContaining(`${secret?.['identity.pub']?.trim()} (${shown})`),
      uid,
    },
  ]);
  await expectRest(garden);
  expect(secretOf(garden)).toEqual(secret);
});

test('creates one key in two concurrent runs', async () => {
  const creates = ({ verb, path }: RequestSummary) => verb === 'create' && path.endsWith('/secrets');
  await using garden = await gardenWith(github, { onRequest: gather(2, creates) });
  expect(await Promise.all([garden.run(), garden.run()])).toEqual([done, done]);
  expect(
    garden.api
      .requestsLike({ verb: 'create', path: /\/secrets$/ })
      .map(({ status }) => status)
      .sort(),
  ).toEqual([201, 409]);
  const key = parsePublicLine(secretOf(garden)?.['identity.pub'] ?? '');
  expect(readIdentity(secretOf(garden)?.identity ?? '')).toEqual({ publicKey: key });
  expect(reasonsOf(garden)).toEqual(['DeployKey']);
  await expectRest(garden);
});

test('keeps what a user writes into the Secret at the same moment', async () => {
  const mine = await generateIdentity('ed25519');
  const writing = before('patch', '/secrets/flux-source');
  await using garden = await gardenWith(github, writing);
  garden.api.objects.create(fluxSource({ note: 'kept' }));
  writing.act = () => garden.api.objects.patch(fluxSource(), { data: fluxSource({ identity: mine }).data });
  expect(await garden.run()).toEqual(done);
  expect(secretOf(garden)).toMatchObject({
    identity: mine,
    note: 'kept',
    known_hosts: expect.stringContaining('github.com'),
  });
  await expectRest(garden);
});

test.each([
  ['before the Secret is written', { verb: 'create', path: /secrets$/ }, false],
  ['after the Secret is written', { verb: 'create', path: /secrets$/ }, true],
  ['after the Event is written', { verb: 'create', path: /events$/ }, true],
])('completes a run that was cut off %s in the next run', async (_, match, after) => {
  await using garden = await gardenWith(github);
  garden.api.faults.add({ action: 'reset', after, match });
  await expect(garden.run()).rejects.toThrow();
  const written = secretOf(garden)?.identity;
  expect(await garden.run()).toEqual(done);
  if (written !== undefined) expect(secretOf(garden)?.identity).toBe(written);
  expect(reasonsOf(garden)).toEqual(['DeployKey']);
  await expectRest(garden);
});

test('trusts a host on first use when configured to, and reports its fingerprint', async () => {
  await using garden = await gardenWith({ ...github, repositoryUrl: repository.sshUrl, knownHosts: 'scan' });
  expect(await garden.run()).toEqual(done);
  expect(secretOf(garden)?.known_hosts).toBe(`${git.knownHosts}\n`);
  expect(eventsOf(garden)).toContainEqual(
    expect.objectContaining({
      type: 'Normal',
      reason: 'HostKeyTrusted',
      message: expect.stringContaining(git.hostKeyFingerprint),
    }),
  );
  await expectRest(garden);
});

test.each([
  ['before the Event is written', { verb: 'create', path: /events$/ }, false],
  ['after the Event is written', { verb: 'create', path: /events$/ }, true],
  ['before the Secret is written', { verb: 'create', path: /secrets$/ }, false],
  ['after the Secret is written', { verb: 'create', path: /secrets$/ }, true],
])('never trusts a host key without its Event, wherever the run is killed: %s', async (_, match, after) => {
  const config = { ...github, repositoryUrl: repository.sshUrl };
  await using garden = await gardenWith({ ...config, knownHosts: 'scan' });
  garden.api.faults.add({ action: 'reset', after, match });
  await expect(garden.run()).rejects.toThrow();
  const expectEvent = () => {
    if (secretOf(garden)?.known_hosts !== undefined) expect(reasonsOf(garden)).toContain('HostKeyTrusted');
  };
  expectEvent();
  // The next run no longer has a reason to say that the key was trusted.
  garden.api.objects.replace(fluxConfig({ ...config, knownHosts: git.knownHosts }));
  expect(await garden.run()).toEqual(done);
  expect(secretOf(garden)?.known_hosts).toBe(`${git.knownHosts}\n`);
  expect(reasonsOf(garden).filter((reason) => reason === 'HostKeyTrusted')).toHaveLength(
    match.path.test('events') && !after ? 0 : 1,
  );
});

test('contacts no host when the operator has switched scans off, and says so', async () => {
  await using garden = await gardenWith({ ...github, repositoryUrl: repository.sshUrl, knownHosts: 'scan' });
  const { settings } = garden;
  const off = { ...settings, hostKeyScan: { mode: 'off', allow: ['127.0.0.1'], deny: [] } } as const;
  expect(await garden.run({ settings: off })).toEqual(done);
  expect(secretOf(garden)?.known_hosts).toBeUndefined();
  expect(eventsOf(garden)).toContainEqual(
    expect.objectContaining({
      reason: 'HostKeysMissing',
      message: expect.stringMatching(/knownHosts cannot be "scan", because .* switched it off; add the lines/),
    }),
  );
});

test('contacts no loopback address by default, and says nothing about it', async () => {
  await using garden = await gardenWith({ ...github, repositoryUrl: repository.sshUrl, knownHosts: 'scan' });
  const settings = { ...garden.settings, hostKeyScan: undefined };
  expect(await garden.run({ settings })).toEqual(requeueAfter(60));
  expect(secretOf(garden)?.known_hosts).toBeUndefined();
  expect(
    eventsOf(garden)
      .map(({ message }) => message)
      .join(),
  ).toMatch(/presented no host key that this landscape may fetch; check repositoryUrl, or add the lines/);
});

test.each([
  ['known_hosts of a megabyte', { known_hosts: 'a '.repeat(400_000) }, /known_hosts is longer than 64 KiB; keep only/],
  [
    'an identity of a megabyte',
    { identity: `-----BEGIN PRIVATE KEY-----\n${'A'.repeat(800_000)}` },
    /longer than 32 KiB/,
  ],
])('reports %s in one sentence and leaves it', async (_, values, sentence) => {
  await using garden = await gardenWith({ ...github, repositoryUrl: 'ssh://git@git.example.org/fleet' });
  garden.api.objects.create(fluxSource(values));
  expect(await garden.run()).toEqual(done);
  const events = eventsOf(garden).filter(({ reason }) => reason === 'InvalidSecret');
  expect(events.map(({ message }) => message)).toEqual([expect.stringMatching(sentence)]);
  expect(secretOf(garden)).toMatchObject(values);
});

test('reads only its own keys of a Secret with thousands of them', async () => {
  await using garden = await gardenWith(github);
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`key-${index}`, 'x']));
  garden.api.objects.create(fluxSource(many));
  expect(await garden.run()).toEqual(done);
  expect(Object.keys(secretOf(garden) ?? {})).toHaveLength(20_003);
  await expectRest(garden);
});

test('scans a host more rarely the longer it presents no key', async () => {
  const repositoryUrl = 'ssh://git@127.0.0.1:1/fleet';
  await using garden = await gardenWith({ ...github, repositoryUrl, knownHosts: 'scan' });
  await garden.run();
  const created = Date.now();
  const later = (seconds: number) => garden.run({ now: () => new Date(created + seconds * 1000) });
  const minutes = async (seconds: number) => {
    const outcome = await later(seconds);
    return outcome.type === 'requeue' ? Math.round(outcome.afterSeconds / 60) : outcome;
  };
  expect(await Promise.all([minutes(30), minutes(300), minutes(86_400)])).toEqual([1, 5, 30]);
});

test('reports an unknown host without host keys once', async () => {
  await using garden = await gardenWith({ ...github, repositoryUrl: 'ssh://git@git.example.org/fleet' });
  expect(await garden.run()).toEqual(done);
  expect(reasonsOf(garden)).toEqual(['DeployKey', 'HostKeysMissing']);
  await expectRest(garden);
});

test.each([
  ['a typo elsewhere', { ...github, repositoryBrunch: 'main' }, ['DeployKey', 'InvalidConfiguration'], true],
  ['a wrong URL', { ...github, repositoryUrl: 'github.com/org/fleet' }, ['InvalidConfiguration'], false],
  ['no URL', { repositoryType: 'private' }, ['InvalidConfiguration'], false],
  [
    'a private key in the wrong place',
    { ...github, knownHosts: '-----BEGIN PRIVATE KEY-----\nmarked-secret' },
    ['InvalidConfiguration'],
    false,
  ],
])('reports %s on the ConfigMap and does not retry it', async (_, data, reasons, makesKey) => {
  await using garden = await gardenWith(data);
  expect(await garden.run()).toEqual(done);
  expect(reasonsOf(garden)).toEqual(reasons);
  expect(secretOf(garden) !== undefined).toBe(makesKey);
  await expectRest(garden);
});

test.each([
  [undefined, ['CredentialsMissing']],
  [{ username: 'reader', password: 'marked-secret' }, []],
  [{ bearerToken: 'marked-secret' }, []],
])('expects the user to provide credentials for https: %j', async (values, reasons) => {
  await using garden = await gardenWith({ ...github, repositoryUrl: 'https://github.com/org/fleet' });
  if (values !== undefined) garden.api.objects.create(fluxSource(values));
  expect(await garden.run()).toEqual(done);
  expect(reasonsOf(garden)).toEqual(reasons);
  expect(secretOf(garden)).toEqual(values);
});

test.each([
  ['public', { repositoryUrl: 'https://github.com/org/fleet' }],
  ['not there', undefined],
  ['empty', {}],
])('leaves the Secret unchanged when the configuration is %s', async (_, data) => {
  await using garden = await gardenWith(data ?? {});
  if (data === undefined) garden.api.objects.delete(fluxConfig({}));
  garden.api.objects.create(fluxSource({ identity: 'marked-secret' }));
  await expectRest(garden);
  expect(eventsOf(garden)).toEqual([]);
});

const refused = (who: string) =>
  `Secret garden-foo/flux-source cannot be created, because ${who}; create it empty with \`kubectl create secret generic flux-source --namespace garden-foo\`, and shoot-flux fills it.`;

/** The account that gardenlet creates for an installation, with the rights of one. */
async function gardenOfInstallation(data: Record<string, string>) {
  const installation = 'extension-shoot-flux-x7k2p';
  const garden = await gardenWith(data, { tokens: { 'keys-token': { name: installationUser(installation) } } });
  for (const object of await installationRbac(installation)) garden.api.objects.create(object);
  return garden;
}

test('says who refuses to let it create the Secret, slowly and in one Event, and fills one that a member creates', async () => {
  await using garden = await gardenOfInstallation(github);
  const { api } = garden;
  api.objects.patch(fluxConfig({}), {
    metadata: { annotations: { 'gardener.cloud/operation': 'rotate-ssh-keypair-start' } },
  });
  for (const now of [0, 1, 5, 3000]) {
    const outcome = await garden.run({ now: () => new Date(Date.now() + now * 1000) });
    expect(outcome).toEqual(requeueAfter(expect.any(Number) as never));
    expect(outcome).toMatchObject({ afterSeconds: now === 3000 ? 1800 : 60 });
  }
  expect(eventsOf(garden)).toEqual([
    {
      ...{ type: 'Warning', reason: 'CreationRefused', uid: api.objects.get(fluxConfig({})).metadata.uid },
      message: `${refused('the admission webhook seed-restriction.gardener.cloud denies it')} Once the operators of this landscape have upgraded the shoot-flux chart, shoot-flux has its own account in the garden and can create it itself.`,
    },
  ]);
  expect(garden.log.filter((line) => line.includes('"level":"warn"'))).toHaveLength(4);
  expect(garden.log.join()).toContain('seed-restriction.gardener.cloud denies it');
  // What a member has asked for is not lost.
  expect(api.objects.get(fluxConfig({})).metadata.annotations).toEqual({
    'gardener.cloud/operation': 'rotate-ssh-keypair-start',
  });

  api.objects.create(fluxSource());
  expect(await garden.run()).toEqual(done);
  expect(Object.keys(secretOf(garden) ?? {}).sort()).toEqual([
    ...['identity', 'identity.next', 'identity.next.pub', 'identity.pub', 'known_hosts'],
  ]);
  expect(reasonsOf(garden)).toEqual(['CreationRefused', 'DeployKey', 'KeyRotationPrepared']);
  await expectRest(garden);
});

test('says that it lacks the right to create the Secret', async () => {
  await using garden = await gardenWith(github);
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' };
  for (const { metadata, rules } of garden.api.objects.list(role.apiVersion, role.kind)) {
    const without = (rules as { verbs: string[]; resources: string[] }[]).map((rule) => ({
      ...rule,
      resources: rule.verbs.includes('create') ? ['events'] : rule.resources,
    }));
    if (metadata.name.endsWith(':keys')) garden.api.objects.patch({ ...role, metadata }, { rules: without });
  }
  expect(await garden.run()).toEqual(requeueAfter(60));
  expect(eventsOf(garden)).toMatchObject([
    {
      message: `${refused('shoot-flux lacks the right')} The operators of this landscape have to apply the registration of this shoot-flux version; it grants the right.`,
    },
  ]);
});

test('fails when the garden fails, because unreachable is not absent', async () => {
  await using garden = await gardenWith(github);
  garden.api.faults.add({ action: 'status', status: 403, match: { path: /\/secrets\/flux-source$/ } });
  await expect(garden.run()).rejects.toThrow('403');
  expect(garden.writes()).toEqual([]);
});
