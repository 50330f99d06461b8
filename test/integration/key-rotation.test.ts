import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGitClient } from '@shoot-flux/landscape/flux';
import { startGitServer } from '@shoot-flux/landscape/git';
import type { KubeApiOptions, RequestSummary } from '@shoot-flux/landscape/kube-api';
import { describe, expect, test } from 'vitest';
import { generateIdentity, readIdentity } from '../../functions/keys/identity.ts';
import { done } from '../../shared/runtime/outcome.ts';
import { parsePublicLine } from '../../shared/ssh/public-key.ts';
import { fluxConfig, fluxSource, type Garden } from './garden.ts';
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

type Phase = 'start' | 'complete';

const domain = 'flux.extensions.gardener.cloud';

function ask({ api }: Garden, phase: Phase | string): void {
  const operation = phase === 'start' || phase === 'complete' ? `rotate-ssh-keypair-${phase}` : phase;
  api.objects.patch(fluxConfig({}), { metadata: { annotations: { 'gardener.cloud/operation': operation } } });
}

function askedOf({ api }: Garden): string | undefined {
  const annotations = api.objects.find(fluxConfig({}))?.metadata.annotations as Record<string, string> | undefined;
  return annotations?.['gardener.cloud/operation'];
}

async function carryOut(garden: Garden, phase: Phase): Promise<void> {
  ask(garden, phase);
  expect(await garden.run()).toEqual(done);
  expect(askedOf(garden)).toBeUndefined();
}

/** A garden with a key, and for `complete` with a prepared second key. */
async function gardenBefore(phase: Phase, options: KubeApiOptions = {}): Promise<Garden> {
  const garden = await gardenWith(github, options);
  await garden.run();
  if (phase === 'complete') await carryOut(garden, 'start');
  return garden;
}

/** Expects that private and public halves match, and that the annotations describe them. */
function expectPair(garden: Garden, identity: string, prefix: string): void {
  const data = secretOf(garden) ?? {};
  const publicKey = parsePublicLine(data[`${identity}.pub`] ?? '');
  expect(readIdentity(data[identity] ?? '')).toEqual({ publicKey });
  expect(annotationsOf(garden)[`${domain}/${prefix}public-key`]).toBe(data[`${identity}.pub`]?.trim());
}

const writes = (garden: Garden) =>
  garden.writes().map((write) => write.replace(/\/api\/v1\/namespaces\/garden-foo/, ''));

test('start: prepares a second pair beside the first, shows both, and removes the annotation', async () => {
  await using garden = await gardenBefore('start');
  const first = secretOf(garden);
  garden.api.requests.length = 0;
  await carryOut(garden, 'start');
  expect(writes(garden)).toEqual(['PATCH /secrets/flux-source', 'POST /events', 'PATCH /configmaps/flux-config']);
  const second = secretOf(garden);
  expect(second).toEqual({ ...first, 'identity.next': expect.any(String), 'identity.next.pub': expect.any(String) });
  expectPair(garden, 'identity', '');
  expectPair(garden, 'identity.next', 'next-');
  const reported = eventsOf(garden);
  for (const name of ['identity.pub', 'identity.next.pub']) {
    expect(reported.filter(({ message }) => message.includes(second?.[name]?.trim() ?? ''))).toHaveLength(1);
  }
  await expectRest(garden);
  ask(garden, 'start');
  await garden.run();
  expect(secretOf(garden)).toEqual(second);
});

test('complete: replaces the first pair by the second, and removes the annotation', async () => {
  await using garden = await gardenBefore('complete');
  const { 'identity.next': identity, 'identity.next.pub': publicKey, ...first } = secretOf(garden) ?? {};
  const former = annotationsOf(garden)[`${domain}/fingerprint`];
  garden.api.requests.length = 0;
  await carryOut(garden, 'complete');
  expect(writes(garden)).toEqual([
    'PATCH /secrets/flux-source',
    'POST /events',
    'POST /events',
    'PATCH /configmaps/flux-config',
  ]);
  expect(secretOf(garden)).toEqual({ ...first, identity, 'identity.pub': publicKey });
  expectPair(garden, 'identity', '');
  expect(Object.keys(annotationsOf(garden)).sort()).toEqual(
    ['fingerprint', 'former-fingerprint', 'public-key'].map((name) => `${domain}/${name}`),
  );
  expect(eventsOf(garden)).toContainEqual(
    expect.objectContaining({ reason: 'KeyRotationCompleted', message: expect.stringContaining(former ?? 'none') }),
  );
  await expectRest(garden);
  await carryOut(garden, 'complete');
  expect(secretOf(garden)).toMatchObject({ identity });
});

test('opens the repository with the old key during the overlap, with the new key afterwards, and not with the removed key', async () => {
  await using git = await startGitServer();
  const { sshUrl } = await git.createRepository('fleet', { 'README.md': '# fleet\n' });
  await using garden = await gardenWith({ ...github, repositoryUrl: sshUrl, knownHosts: 'scan' });
  const fetch = async ({ identity = '', known_hosts: knownHosts = '' }: Record<string, string>) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'rotation-'));
    return await createGitClient(folder.path).fetch(sshUrl, { branch: 'main' }, { type: 'ssh', identity, knownHosts });
  };
  const now = () => secretOf(garden) ?? {};
  const refusal = 'unable to authenticate';
  await garden.run();
  const old = now();
  git.addDeployKey('fleet', old['identity.pub'] ?? '');

  await carryOut(garden, 'start');
  expect((await fetch(now())).revision).toMatch(/^main@sha1:/);
  const next = { ...now(), identity: now()['identity.next'] ?? '' };
  await expect(fetch(next)).rejects.toThrow(refusal);
  git.addDeployKey('fleet', annotationsOf(garden)[`${domain}/next-public-key`] ?? '');
  expect((await fetch(next)).revision).toMatch(/^main@sha1:/);

  await carryOut(garden, 'complete');
  expect((await fetch(now())).revision).toMatch(/^main@sha1:/);
  expect((await fetch(old)).revision).toMatch(/^main@sha1:/);
  git.removeDeployKey('fleet', old['identity.pub'] ?? '');
  await expect(fetch(old)).rejects.toThrow(refusal);
  expect((await fetch(now())).revision).toMatch(/^main@sha1:/);
});

describe.each<Phase>(['start', 'complete'])('%s', (phase) => {
  const reasons = {
    start: ['DeployKey', 'KeyRotationPrepared'],
    complete: ['DeployKey', 'DeployKey', 'KeyRotationCompleted', 'KeyRotationPrepared'],
  }[phase];
  /** Expects the end state, whatever happened before. */
  const expectEnd = async (garden: Garden, secret: Record<string, string>) => {
    expect(askedOf(garden)).toBeUndefined();
    const { identity, 'identity.next': next } = secretOf(garden) ?? {};
    if (phase === 'start') {
      expect(identity).toBe(secret.identity);
      expectPair(garden, 'identity.next', 'next-');
    } else {
      expect(identity).toBe(secret['identity.next']);
      expect(next).toBeUndefined();
    }
    expectPair(garden, 'identity', '');
    expect(reasonsOf(garden)).toEqual(reasons);
    await expectRest(garden);
  };

  test('completes a rotation that was cut off before or after any request', async () => {
    let number = 0;
    let onRequest: (request: RequestSummary) => void = () => {};
    await using counted = await gardenBefore(phase, { onRequest: (request) => onRequest(request) });
    onRequest = () => void number++;
    await carryOut(counted, phase);
    expect(number).toBeGreaterThan(5);
    for (const after of [false, true]) {
      for (let at = 1; at <= number; at++) {
        let count = 0;
        let act = (_: RequestSummary) => {};
        await using garden = await gardenBefore(phase, { onRequest: (request) => act(request) });
        const secret = secretOf(garden) ?? {};
        act = ({ method, path }) => {
          const match = { method, path: new RegExp(`^${path}$`) };
          if (++count === at) garden.api.faults.add({ action: 'reset', after, match });
        };
        ask(garden, phase);
        // The client repeats a failed read.
        await garden.run().catch(() => undefined);
        expect(count).toBeGreaterThanOrEqual(at);
        act = () => {};
        await garden.run();
        await expectEnd(garden, secret);
      }
    }
  });

  test('rotates once in two concurrent runs', async () => {
    let hold: KubeApiOptions['onRequest'];
    await using garden = await gardenBefore(phase, { onRequest: (request) => hold?.(request) });
    const secret = secretOf(garden) ?? {};
    hold = gather(2, ({ verb, path }) => verb === 'patch' && path.endsWith('/secrets/flux-source'));
    ask(garden, phase);
    garden.api.requests.length = 0;
    expect(await Promise.all([garden.run(), garden.run()])).toEqual([done, done]);
    const patches = garden.api.requestsLike({ verb: 'patch', path: /\/secrets\/flux-source$/ });
    expect(patches.map(({ status }) => status).sort()).toEqual([200, 409]);
    await expectEnd(garden, secret);
  });

  test('removes the annotation also after an edit of the ConfigMap that starts no run', async () => {
    const removing = before('patch', '/configmaps/flux-config');
    await using garden = await gardenBefore(phase, removing);
    const secret = secretOf(garden) ?? {};
    removing.act = () => garden.api.objects.patch(fluxConfig({}), { metadata: { labels: { edited: 'true' } } });
    await carryOut(garden, phase);
    await expectEnd(garden, secret);
  });
});

test.each([
  ['has read the ConfigMap', 'get'],
  ['has read both', 'patch'],
])('a late run that %s does not complete a rotation that was prepared meanwhile', async (_, verb) => {
  const late = before(verb, '/secrets/flux-source');
  await using garden = await gardenBefore('complete', late);
  const completed = secretOf(garden)?.['identity.next'];
  late.act = async () => {
    await carryOut(garden, 'complete');
    await carryOut(garden, 'start');
  };
  ask(garden, 'complete');
  expect(await garden.run()).toEqual(done);
  expect(secretOf(garden)?.identity).toBe(completed);
  expectPair(garden, 'identity.next', 'next-');
  await expectRest(garden);
});

test('completes a rotation that is requested while the start is still running', async () => {
  const removing = before('patch', '/configmaps/flux-config');
  await using garden = await gardenBefore('start', removing);
  const first = secretOf(garden)?.identity;
  removing.act = () => ask(garden, 'complete');
  await carryOut(garden, 'start');
  expect(secretOf(garden)?.identity).not.toBe(first);
  expect(reasonsOf(garden)).toContain('KeyRotationCompleted');
});

test('drops the operation when its ConfigMap is deleted meanwhile', async () => {
  const removing = before('patch', '/configmaps/flux-config');
  await using garden = await gardenBefore('start', removing);
  removing.act = () => garden.api.objects.delete(fluxConfig({}));
  await carryOut(garden, 'start');
  expectPair(garden, 'identity.next', 'next-');
});

test.each([
  ['public', { repositoryUrl: 'https://github.com/org/fleet', repositoryType: 'public' }, []],
  ['private over https', { ...github, repositoryUrl: 'https://github.com/org/fleet' }, ['CredentialsMissing']],
  ['none', {}, []],
])(
  'does not rotate when the repository becomes %s in the middle, and keeps the prepared pair',
  async (_, data, also) => {
    await using garden = await gardenBefore('complete');
    const secret = secretOf(garden);
    garden.api.objects.replace(fluxConfig(data));
    for (const phase of ['start', 'complete'] as const) await carryOut(garden, phase);
    expect(secretOf(garden)).toEqual(secret);
    expect(reasonsOf(garden)).toEqual([
      ...also,
      'DeployKey',
      'KeyRotationPrepared',
      'KeyRotationRefused',
      'KeyRotationRefused',
    ]);
    garden.api.objects.replace(fluxConfig(github));
    await carryOut(garden, 'complete');
    expect(secretOf(garden)?.identity).toBe(secret?.['identity.next']);
  },
);

test('carries out an operation once an invalid configuration is corrected', async () => {
  await using garden = await gardenBefore('start');
  garden.api.objects.replace(fluxConfig({ ...github, repositoryUrl: 'github.com/org/fleet' }));
  ask(garden, 'start');
  await garden.run();
  await expectRest(garden);
  expect(askedOf(garden)).toBe('rotate-ssh-keypair-start');
  garden.api.objects.patch(fluxConfig({}), { data: github });
  await garden.run();
  expectPair(garden, 'identity.next', 'next-');
  expect(askedOf(garden)).toBeUndefined();
});

test('keeps a key that the user writes meanwhile', async () => {
  const mine = await generateIdentity('ed25519');
  const writing = before('patch', '/secrets/flux-source');
  await using garden = await gardenBefore('start', writing);
  writing.act = () => garden.api.objects.patch(fluxSource(), { data: fluxSource({ 'identity.next': mine }).data });
  await carryOut(garden, 'start');
  expect(secretOf(garden)?.['identity.next']).toBe(mine);
  expectPair(garden, 'identity.next', 'next-');
});
