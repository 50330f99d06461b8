// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the configuration look like those of JavaScript
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { createGitClient } from '@shoot-flux/landscape/flux';
import { type GitRepository, type GitServer, startGitServer } from '@shoot-flux/landscape/git';
import { openSshKey } from '@shoot-flux/landscape/git/keys';
import { createGitUser, hasSsh } from '@shoot-flux/landscape/git/user';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Policy } from '../../shared/config/policy/policy.ts';
import type { Settings } from '../../shared/runtime/context.ts';
import { done, type Outcome, requeueAfter } from '../../shared/runtime/outcome.ts';
import { readIdentity } from '../../shared/ssh/identity.ts';
import { fingerprint, parsePublicLine } from '../../shared/ssh/public-key.ts';
import { installationRbac, installationUser } from '../scenarios/identities.ts';
import { fluxConfig, fluxSource } from './garden.ts';
import { annotationsOf, eventsOf, expectRest, gardenWith, github, reasonsOf, secretOf } from './keys-garden.ts';

const INVALID = 'InvalidConfiguration';
const REFUSED = 'NotAllowed';

let git: GitServer;
let repository: GitRepository;
beforeAll(async () => {
  git = await startGitServer();
  repository = await git.createRepository('fleet', { 'README.md': '# fleet\n' });
});
afterAll(() => git.stop());

/** Expects that a key opens its repository to Flux and OpenSSH once it is a deploy key there, and no other one. */
async function expectToOpen(identity: string, publicKey: string): Promise<void> {
  using user = createGitUser();
  const client = createGitClient(mkdtempSync(join(user.folder, 'flux-')));
  const auth = { type: 'ssh', identity, knownHosts: git.knownHosts } as const;
  const fetched = () => client.fetch(repository.sshUrl, { branch: 'main' }, auth);
  await expect(fetched()).rejects.toThrow('unable to authenticate');
  git.addDeployKey('fleet', publicKey);
  expect((await fetched()).revision).toMatch(/^main@sha1:/);
  if (!hasSsh) return console.warn('ssh is not installed: cloning over SSH with it is not tried.');
  const clone = (url: string) => user.cloneOverSsh(url, openSshKey(identity), git.knownHosts);
  expect(await clone(repository.sshUrl)).toBe('# fleet\n');
  const closed = await git.createRepository(`closed-${publicKey.split(' ')[0]}`, { a: 'b' });
  expect(await clone(closed.sshUrl)).toContain('may not read it');
  git.removeDeployKey('fleet', publicKey);
  expect(await clone(repository.sshUrl)).toContain('Permission denied');
}

test.each(['ed25519', 'rsa'])(
  'creates one key pair of type %s for a private repository, which opens it',
  async (sshKeyType) => {
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
    await expectToOpen(secret?.identity ?? '', secret?.['identity.pub']?.trim() ?? '');
  },
);

test.each([
  ['before the Event is written', { verb: 'create', path: /events$/ }, false],
  ['after the Event is written', { verb: 'create', path: /events$/ }, true],
  ['before the Secret is written', { verb: 'create', path: /secrets$/ }, false],
  ['after the Secret is written', { verb: 'create', path: /secrets$/ }, true],
])(
  'trusts a host on first use, and never without its Event, wherever the run is killed: %s',
  async (_, match, after) => {
    const config = { ...github, repositoryUrl: repository.sshUrl };
    await using garden = await gardenWith({ ...config, knownHosts: 'scan' });
    garden.api.faults.add({ action: 'reset', after, match });
    await expect(garden.run()).rejects.toThrow();
    const isTrusted = after && match.path.test('secrets');
    expect(secretOf(garden)?.known_hosts).toBe(isTrusted ? `${git.knownHosts}\n` : undefined);
    const said = eventsOf(garden).filter(({ reason }) => reason === 'HostKeyTrusted');
    if (isTrusted) expect(said).toMatchObject([{ message: expect.stringContaining(git.hostKeyFingerprint) }]);
    // The next run no longer has a reason to say that the key was trusted.
    garden.api.objects.replace(fluxConfig({ ...config, knownHosts: git.knownHosts }));
    expect(await garden.run()).toEqual(done);
    expect(secretOf(garden)?.known_hosts).toBe(`${git.knownHosts}\n`);
    expect(reasonsOf(garden).filter((reason) => reason === 'HostKeyTrusted')).toHaveLength(
      match.path.test('events') && !after ? 0 : 1,
    );
  },
);

test.each<[string, Partial<Settings>, Outcome, RegExp]>([
  [
    'the operator has switched scans off',
    { hostKeyScan: { mode: 'off', allow: ['127.0.0.1'], deny: [] } },
    done,
    /knownHosts cannot be "scan", because .* switched it off; add the lines/,
  ],
  [
    'the policy does not allow it',
    { policy: { allowHostKeyScan: false } },
    done,
    /knownHosts "scan" is not allowed by allowHostKeyScan in the policy of this landscape; add the lines that ssh-keyscan/,
  ],
  [
    'its address may not be contacted, like all loopback addresses by default',
    { hostKeyScan: undefined },
    requeueAfter(60),
    /presented no host key that this landscape may fetch; check repositoryUrl, or add the lines/,
  ],
])('contacts no host when %s', async (_, parts, outcome, sentence) => {
  await using garden = await gardenWith({ ...github, repositoryUrl: repository.sshUrl, knownHosts: 'scan' });
  expect(await garden.run({ settings: { ...garden.settings, ...parts } })).toEqual(outcome);
  expect(secretOf(garden)?.known_hosts).toBeUndefined();
  expect(eventsOf(garden)).toContainEqual(expect.objectContaining({ message: expect.stringMatching(sentence) }));
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

interface Row {
  what: string;
  /** Absent: there is no ConfigMap. */
  data?: Record<string, string>;
  annotations?: Record<string, string>;
  policy?: Policy;
  /** Of the Secret; absent: there is none. */
  values?: Record<string, string>;
  reasons: string[];
}
const https = { ...github, repositoryUrl: 'https://github.com/org/fleet' };
const policy: Policy = { allowedRepositoryUrls: ['https://git.example.com/**'] };
const ofTeams: Policy = { allowedRepositoryUrls: ['git.example.com/green/*', 'ssh://git.example.com/blue/**'] };
const asked = { 'gardener.cloud/operation': 'rotate-ssh-keypair-start' };
const identity = 'marked-secret';

test.each<Row>([
  { what: 'a typo elsewhere', data: { ...github, repositoryBrunch: 'x' }, reasons: ['DeployKey', INVALID] },
  { what: 'a wrong URL', data: { ...github, repositoryUrl: 'github.com/org/fleet' }, reasons: [INVALID] },
  { what: 'no URL', data: { repositoryType: 'private' }, reasons: [INVALID] },
  {
    what: 'a private key in the wrong place',
    data: { ...github, knownHosts: '-----BEGIN PRIVATE KEY-----\nmarked-secret' },
    reasons: [INVALID],
  },
  { what: 'https without credentials', data: https, reasons: ['CredentialsMissing'] },
  {
    what: 'https with a password',
    data: https,
    values: { username: 'reader', password: 'marked-secret' },
    reasons: [],
  },
  { what: 'a public repository', data: { repositoryUrl: https.repositoryUrl }, values: { identity }, reasons: [] },
  { what: 'no ConfigMap', values: { identity }, reasons: [] },
  { what: 'an empty ConfigMap', data: {}, values: { identity }, reasons: [] },
  { what: 'a URL that the policy refuses', data: github, policy, reasons: [REFUSED] },
  { what: 'such a URL beside a typo', data: { ...github, registri: 'x' }, policy, reasons: [INVALID, REFUSED] },
  { what: 'such a URL and a rotation', data: github, annotations: asked, policy, reasons: [REFUSED] },
  {
    what: 'a URL with variables on a host that the policy refuses',
    data: { ...github, repositoryUrl: 'ssh://git@github.com/${SHOOT_LABEL_team}/fleet' },
    policy: ofTeams,
    reasons: [REFUSED],
  },
  {
    what: 'a URL with variables on a host that the policy allows',
    data: { ...github, repositoryUrl: 'ssh://git@git.example.com/${SHOOT_LABEL_team}/fleet' },
    policy: ofTeams,
    reasons: ['DeployKey', 'HostKeysMissing'],
  },
  {
    what: 'something else that the policy refuses',
    data: { ...github, fluxVersion: 'v2.8.1' },
    policy: { allowedVersions: ['2.9.x'] },
    reasons: ['DeployKey', REFUSED],
  },
])('$what: reports what is wrong once, and makes a key pair only where it is needed', async (row) => {
  const { data = {}, annotations, values, reasons } = row;
  await using garden = await gardenWith(data);
  garden.settings.policy = row.policy;
  if (row.data === undefined) garden.api.objects.delete(fluxConfig({}));
  else garden.api.objects.patch(fluxConfig({}), { metadata: { annotations } });
  if (values !== undefined) garden.api.objects.create(fluxSource(values));
  expect(await garden.run()).toEqual(done);
  expect(reasonsOf(garden)).toEqual(reasons);
  if (reasons.includes('DeployKey')) expect(secretOf(garden)).toHaveProperty('identity.pub');
  else expect(secretOf(garden)).toEqual(values);
  if (row.policy === policy) {
    expect(eventsOf(garden).map(({ message }) => message.replace(/\.?$/, '.'))).toContain(
      `ConfigMap garden-foo/flux-config: repositoryUrl "${github.repositoryUrl}" is not allowed by allowedRepositoryUrls in the policy of this landscape; use https://git.example.com/**.`,
    );
  }
  await expectRest(garden);
});

test('a repository that the policy refuses later keeps the key pair that it has', async () => {
  await using garden = await gardenWith(github);
  await garden.run();
  const before = secretOf(garden);
  expect(before?.identity).toBeDefined();
  garden.settings.policy = policy;
  expect(await garden.run()).toEqual(done);
  expect(secretOf(garden)).toEqual(before);
  expect(reasonsOf(garden)).toEqual(['DeployKey', REFUSED]);
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
