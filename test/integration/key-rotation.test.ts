import type { KubeApiOptions, RequestSummary } from '@shoot-flux/landscape/kube-api';
import { describe, expect, test } from 'vitest';
import { done } from '../../shared/runtime/outcome.ts';
import { generateIdentity, readIdentity } from '../../shared/ssh/identity.ts';
import { parsePublicLine } from '../../shared/ssh/public-key.ts';
import { fluxConfig, fluxSource, type Garden } from './garden.ts';
import {
  annotationsOf,
  before,
  expectRest,
  gardenWith,
  gather,
  github,
  reasonsOf,
  runRepeated,
  secretOf,
} from './keys-garden.ts';

/** What a run does, from a garden without a key pair to one with a rotated one. */
const phases = {
  create: { verb: 'create', path: /\/secrets$/, reasons: ['DeployKey'], writes: ['POST /secrets', 'POST /events'] },
  start: {
    ...{ verb: 'patch', path: /\/secrets\/flux-source$/, reasons: ['DeployKey', 'KeyRotationPrepared'] },
    writes: ['PATCH /secrets/flux-source', 'POST /events', 'PATCH /configmaps/flux-config'],
  },
  complete: {
    ...{ verb: 'patch', path: /\/secrets\/flux-source$/ },
    reasons: ['DeployKey', 'DeployKey', 'KeyRotationCompleted', 'KeyRotationPrepared'],
    writes: ['PATCH /secrets/flux-source', 'POST /events', 'POST /events', 'PATCH /configmaps/flux-config'],
  },
};
type Phase = keyof typeof phases;

const domain = 'flux.extensions.gardener.cloud';

function ask({ api }: Garden, phase: Phase): void {
  if (phase === 'create') return;
  const operation = `rotate-ssh-keypair-${phase}`;
  api.objects.patch(fluxConfig({}), { metadata: { annotations: { 'gardener.cloud/operation': operation } } });
}

function askedOf({ api }: Garden): string | undefined {
  const annotations = api.objects.find(fluxConfig({}))?.metadata.annotations as Record<string, string> | undefined;
  return annotations?.['gardener.cloud/operation'];
}

async function carryOut(garden: Garden, phase: Phase): Promise<void> {
  ask(garden, phase);
  expect(await runRepeated(garden)).toEqual(done);
  expect(askedOf(garden)).toBeUndefined();
}

/** A garden with a key unless it is to be created, and for `complete` with a prepared second key. */
async function gardenBefore(phase: Phase, options: KubeApiOptions = {}): Promise<Garden> {
  const garden = await gardenWith(github, options);
  if (phase !== 'create') await garden.run();
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

describe.each(Object.entries(phases) as [Phase, (typeof phases)[Phase]][])(
  '%s',
  (phase, { reasons, ...phaseParts }) => {
    /** Expects the end state, whatever happened before. */
    const expectEnd = async (garden: Garden, secret: Record<string, string>) => {
      expect(askedOf(garden)).toBeUndefined();
      const { identity, 'identity.next': next } = secretOf(garden) ?? {};
      if (phase === 'start') {
        expect(identity).toBe(secret.identity);
        expectPair(garden, 'identity.next', 'next-');
      } else {
        if (phase === 'complete') expect(identity).toBe(secret['identity.next']);
        expect(next).toBeUndefined();
      }
      expectPair(garden, 'identity', '');
      expect(reasonsOf(garden)).toEqual(reasons);
      await expectRest(garden);
    };

    test('writes the Secret, then the Events, and removes the annotation last', async () => {
      await using garden = await gardenBefore(phase);
      const secret = secretOf(garden) ?? {};
      garden.api.requests.length = 0;
      await carryOut(garden, phase);
      expect(writes(garden)).toEqual(phaseParts.writes);
      await expectEnd(garden, secret);
    });

    test('ends the same after a run that was cut off before or after any request', async () => {
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
          const written = secretOf(garden) ?? {};
          await garden.run();
          if (written.identity !== secret.identity) expect(secretOf(garden)).toEqual(written);
          await expectEnd(garden, secret);
        }
      }
    });

    test('happens once in two concurrent runs', async () => {
      let hold: KubeApiOptions['onRequest'];
      await using garden = await gardenBefore(phase, { onRequest: (request) => hold?.(request) });
      const secret = secretOf(garden) ?? {};
      const match = { verb: phaseParts.verb, path: phaseParts.path };
      hold = gather(2, ({ verb, path }) => verb === match.verb && match.path.test(path));
      ask(garden, phase);
      garden.api.requests.length = 0;
      expect(await Promise.all([runRepeated(garden), runRepeated(garden)])).toEqual([done, done]);
      const written = garden.api.requestsLike(match).map(({ status }) => status);
      expect(written.sort()).toEqual([phase === 'create' ? 201 : 200, 409]);
      await expectEnd(garden, secret);
    });

    if (phase === 'create') return;

    test('removes the annotation also after an edit of the ConfigMap that starts no run', async () => {
      const removing = before('patch', '/configmaps/flux-config');
      await using garden = await gardenBefore(phase, removing);
      const secret = secretOf(garden) ?? {};
      removing.act = () => garden.api.objects.patch(fluxConfig({}), { metadata: { labels: { edited: 'true' } } });
      await carryOut(garden, phase);
      await expectEnd(garden, secret);
    });
  },
);

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
  expect(await runRepeated(garden)).toEqual(done);
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
