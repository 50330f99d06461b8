import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Line } from '../../shared/gardener/status-map.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { membership, projectOf, shootOn, startGarden, statusMapOf } from '../fleet/testing.ts';
import { shootFlux } from './testing.ts';

const prefix = 'flux.extensions.gardener.cloud';
const at = `${prefix}/reconcile-at`;
const operation = 'gardener.cloud/operation';
const ed25519 = (byte: string) => {
  const blob = Buffer.concat([Buffer.from('\0\0\0\x0bssh-ed25519\0\0\0\x20', 'latin1'), Buffer.alloc(32, byte)]);
  return `ssh-ed25519 ${blob.toString('base64')}`;
};
const privateKey = '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n';

const configOf = (namespace: string, data: Record<string, string> = {}, annotations: Record<string, string> = {}) => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap' },
  ...{ metadata: { namespace, name: 'flux-config', annotations }, data },
});
const sourceOf = (namespace: string, annotations: Record<string, string>): KubeObject => ({
  ...{ apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata: { namespace, name: 'flux-source', annotations } },
  data: { identity: Buffer.from(privateKey).toString('base64') },
});
const url = 'git@bitbucket.org:acme/fleet.git';

const lines: Record<string, Line> = {
  good: { state: 'Ready' },
  sleeping: { state: 'Hibernated' },
  bad: { state: 'Not Ready', since: '2026-11-27T04:00:00Z', sentence: 'The quota has no room.' },
  late: { state: 'Progressing', since: '2026-11-27T04:00:00Z', sentence: 'Flux has not been checked yet.' },
};

const objects = [
  ...['bar', 'https', 'rotating', 'busy', 'asked', 'fresh'].flatMap(projectOf),
  configOf('garden-foo', { repositoryUrl: url, repositoryType: 'private' }),
  sourceOf('garden-foo', { [`${prefix}/public-key`]: `${ed25519('a')} shoot-flux/dev/foo` }),
  configOf('garden-fresh', { repositoryUrl: url }),
  shootOn('aws-1', 'garden-fresh', 'new'),
  configOf('garden-rotating', { repositoryUrl: url }),
  sourceOf('garden-rotating', {
    [`${prefix}/public-key`]: ed25519('a'),
    [`${prefix}/next-public-key`]: ed25519('b'),
    [`${prefix}/former-fingerprint`]: 'SHA256:former',
  }),
  configOf('garden-busy', { repositoryUrl: url }, { [operation]: 'other' }),
  sourceOf('garden-busy', { [`${prefix}/public-key`]: ed25519('a') }),
  sourceOf('garden-https', { [`${prefix}/public-key`]: privateKey }),
  shootOn('aws-1', 'garden-foo', 'good'),
  shootOn('aws-1', 'garden-foo', 'busy', { metadata: { name: 'busy', annotations: { [operation]: 'retry' } } }),
  shootOn('aws-1', 'garden-foo', 'failed', { status: { lastOperation: { state: 'Failed' } } }),
  shootOn('aws-1', 'garden-foo', 'asleep', { spec: { hibernation: { enabled: true } } }),
  shootOn('aws-1', 'garden-foo', 'late'),
  shootOn('aws-1', 'garden-bar', 'one'),
  ...membership('nick', 'bar', [{ apiGroups: ['core.gardener.cloud'], resources: ['shoots'], verbs: ['*'] }]),
  statusMapOf('garden-foo', lines),
  statusMapOf(
    'garden-asked',
    { one: { state: 'Ready' } },
    { Suspended: 'by mia since 2026-11-27T04:00:00Z: leaked key' },
  ),
];

let garden: Awaited<ReturnType<typeof startGarden>>;
beforeAll(async () => {
  garden = await startGarden(objects);
});
afterAll(() => garden[Symbol.asyncDispose]());

type Reference = Parameters<typeof garden.api.objects.replace>[0];
type Who = 'member' | 'operator' | 'nobody';
const run = (who: Who, command: string, ...args: string[]) =>
  shootFlux([...command.split(' '), '--kubeconfig', garden.people[who], ...args]);
const kinds = { Shoot: 'core.gardener.cloud/v1beta1', ConfigMap: 'v1' };
const annotationsOf = (kind: keyof typeof kinds, namespace: string, name: string) =>
  (garden.api.objects.get({ apiVersion: kinds[kind], kind, metadata: { namespace, name } }) as unknown as KubeObject)
    .metadata.annotations ?? {};
const versions = () => garden.api.objects.list(kinds.Shoot, 'Shoot').map(({ metadata }) => metadata.resourceVersion);

describe('shoot-flux reconcile', () => {
  it('asks Flux in one Shoot, as Gardener lets a member do', async () => {
    const { code, out, err } = await run('member', 'reconcile good');
    expect(err).toBe('');
    expect(out).toMatch(/^Asked Flux in Shoot garden-foo\/good to reconcile now; shoot-flux status --kubeconfig/);
    expect(code).toBe(0);
    expect(annotationsOf('Shoot', 'garden-foo', 'good')).toMatchObject({
      [at]: expect.stringMatching(/^20/),
      [operation]: 'reconcile',
    });
  });

  it('asks Flux in one Shoot also for somebody who may not read flux-config', async () => {
    const { code, err } = await run('nobody', 'reconcile one --namespace garden-bar');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(annotationsOf('Shoot', 'garden-bar', 'one')).toMatchObject({ [operation]: 'reconcile' });
  });

  it('asks Flux in all Shoots of a project, each time anew', async () => {
    const { out } = await run('member', 'reconcile', '--project', 'foo');
    expect(out).toContain('Asked Flux in all Shoots of namespace garden-foo to reconcile now');
    const first = annotationsOf('ConfigMap', 'garden-foo', 'flux-config')[at];
    await run('member', 'reconcile', '--project', 'foo');
    expect(annotationsOf('ConfigMap', 'garden-foo', 'flux-config')[at]).not.toBe(first);
  });

  it('waits for a Shoot that has not reported yet', async () => {
    const { code, out } = await run('operator', 'reconcile --project fresh --wait --timeout 1s');
    expect(out).toContain('Shoot garden-fresh/new is Progressing: No state has been reported yet');
    expect(code).toBe(1);
  });

  it('waits until the Shoot is Ready, and says meanwhile for which it waits', async () => {
    const running = run('member', 'reconcile late --wait', '--timeout', '1h');
    await expect.poll(() => annotationsOf('Shoot', 'garden-foo', 'late')[at]).toBeDefined();
    garden.api.objects.replace(
      statusMapOf('garden-foo', { ...lines, late: { state: 'Ready' } }) as unknown as Reference,
    );
    const { code, out, err } = await running;
    expect(err).toMatch(/^(0 of 1 are Ready; waiting for late\n)?$/);
    expect(out).toMatch(/shows the result\.\nFlux is Ready in Shoot garden-foo\/late\.\n$/);
    expect(code).toBe(0);
  });

  it('says what is not Ready when the time is up', async () => {
    const { code, out, err } = await run('operator', 'reconcile --project foo --wait --timeout 1s');
    expect(err).toMatch(/^\d of 7 are Ready; waiting for .*\n$/);
    expect(out).toContain('\nShoot garden-foo/bad is Not Ready: The quota has no room.\n');
    expect(out).not.toContain('Flux is Ready');
    expect(code).toBe(1);
  });

  it.each<[Who, string[], number, string]>([
    [
      'member',
      ['good', '--wait', '--timeout', 'soon'],
      2,
      '--timeout soon is not a time; write for example 90s or 10m',
    ],
    ['member', [], 2, 'name a Shoot, or add --project NAME to ask all Shoots of a project'],
    ['member', ['good', 'busy'], 2, 'name one Shoot'],
    ['member', ['none'], 1, 'Shoot garden-foo/none does not exist; check its name'],
    ['member', ['busy'], 1, 'Shoot garden-foo/busy waits for Gardener to carry out the annotation'],
    ['member', ['failed'], 1, 'annotate it with gardener.cloud/operation=retry first'],
    ['member', ['asleep'], 1, 'Shoot garden-foo/asleep is hibernated'],
    ['nobody', ['good'], 3, 'These credentials may not annotate Shoot garden-foo/good in namespace garden-foo'],
    ['nobody', ['-n', 'garden-foo'], 3, 'These credentials may not annotate ConfigMap garden-foo/flux-config'],
    ['operator', ['--project', 'bar'], 1, 'Namespace garden-bar has no ConfigMap flux-config; create it'],
  ])('%s with %j ends with %i', async (who, args, expected, message) => {
    const before = versions();
    const { code, out, err } = await run(who, 'reconcile', ...args);
    expect(err).toContain(message);
    expect(out).toBe('');
    expect(code).toBe(expected);
    expect(versions()).toEqual(before);
  });
});

describe('shoot-flux suspend and resume', () => {
  const suspended = 'flux.extensions.gardener.cloud/suspended';
  const written = (namespace: string) => annotationsOf('ConfigMap', namespace, 'flux-config')[suspended];

  it('suspends a project in the name of whoever asks, keeps the first reason, and resumes it', async () => {
    const { code, out, err } = await run('member', 'suspend --project foo', '--reason', ' a key "leaked" ');
    expect(err).toBe('');
    expect(out).toMatch(
      /^Suspended Flux in all Shoots of namespace garden-foo\. Take it back with: shoot-flux resume --/,
    );
    expect(code).toBe(0);
    const value = JSON.parse(written('garden-foo') ?? '');
    expect(value).toEqual({ by: 'mia', since: expect.stringMatching(/^[\dT:-]{19}Z$/), reason: 'a key "leaked"' });
    const again = await run('operator', 'suspend --project foo --reason other');
    expect(again.out).toContain(`was already suspended by mia since ${value.since}: a key "leaked"`);
    expect(JSON.parse(written('garden-foo') ?? '')).toEqual(value);
    const asked = await run('member', 'reconcile --project foo');
    expect(asked.err).toContain('Namespace garden-foo is suspended by mia since');
    const before = versions();
    const one = await run('member', 'reconcile good');
    expect(one.err).toMatch(
      /is suspended by mia .*; resume it first: shoot-flux resume --kubeconfig \S+ --namespace garden-foo\n$/,
    );
    expect([one.out, one.code]).toEqual(['', 1]);
    expect(versions()).toEqual(before);
    const back = await run('operator', 'resume --project foo');
    expect(back.out).toMatch(/^Resumed Flux in all Shoots of namespace garden-foo; it was suspended by mia since/);
    expect(written('garden-foo')).toBeUndefined();
    expect((await run('member', 'resume --project foo')).out).toContain('is not suspended');
  });

  it('status shows it first', async () => {
    const text = 'by mia since 2026-11-27T04:00:00Z: leaked key';
    const { out } = await run('operator', 'status --project asked');
    expect(out).toContain(`\n\nSuspended: ${text}\n`);
    expect(JSON.parse((await run('operator', 'status --project asked -o json')).out).suspensions).toEqual({
      'garden-asked': text,
    });
  });

  it.each<[Who, string[], number, string]>([
    ['member', ['suspend', '--reason', 'x'], 2, 'option --project is required'],
    ['member', ['suspend', '--project', 'foo'], 2, 'option --reason is required'],
    ['member', ['suspend', '--project', 'foo', '--reason', 'x'.repeat(201)], 2, 'is longer than 200 characters'],
    ['member', ['resume'], 2, 'option --project is required'],
    [
      'nobody',
      ['suspend', '--project', 'foo', '--reason', 'x'],
      3,
      'may not annotate ConfigMap garden-foo/flux-config',
    ],
    ['operator', ['resume', '--project', 'bar'], 1, 'Namespace garden-bar has no ConfigMap flux-config'],
  ])('%s with %j ends with %i', async (who, [command = '', ...args], expected, message) => {
    const { code, out, err } = await run(who, command, ...args);
    expect(err).toContain(message);
    expect([out, code]).toEqual(['', expected]);
  });
});

describe('shoot-flux keys', () => {
  it('shows the public key, its fingerprint and its place', async () => {
    const { code, out, err } = await run('member', 'keys show');
    expect(err).toBe('');
    expect(out.split('\n')).toEqual([
      'Repository   ssh://git@bitbucket.org/acme/fleet.git',
      `Public key   ${ed25519('a')} shoot-flux/dev/foo`,
      'Type         ssh-ed25519',
      expect.stringMatching(/^Fingerprint {2}SHA256:[\w+/]{43}$/),
      '',
      'Add the public key to ssh://git@bitbucket.org/acme/fleet.git as an access key.',
      '',
    ]);
    expect(code).toBe(0);
  });

  it('is for programs, too, and shows what a rotation has prepared, but never what is private', async () => {
    const { out } = await run('operator', 'keys show', '--project', 'rotating', '-o', 'json');
    expect(JSON.parse(out)).toEqual({
      ...{ apiVersion: 'shoot-flux/v1', kind: 'Keys', repository: 'ssh://git@bitbucket.org/acme/fleet.git' },
      place: 'to ssh://git@bitbucket.org/acme/fleet.git as an access key',
      current: { publicKey: ed25519('a'), type: 'ssh-ed25519', fingerprint: expect.stringMatching(/^SHA256:/) },
      next: { publicKey: ed25519('b'), type: 'ssh-ed25519', fingerprint: expect.stringMatching(/^SHA256:/) },
      formerFingerprint: 'SHA256:former',
    });
    const { out: text } = await run('operator', 'keys show', '--project', 'rotating');
    expect(text).toContain(`Next key          ${ed25519('b')}\n`);
    expect(text).toMatch(/then run: shoot-flux keys rotate --complete --kubeconfig \S+ --project rotating\n$/);
    const gets = garden.api.requests.filter(({ path }) => path.endsWith('/secrets/flux-source'));
    expect(new Set(gets.map(({ method }) => method))).toEqual(new Set(['GET']));
  });

  it('requests the phases of a rotation, and says the next step', async () => {
    const start = await run('member', 'keys rotate');
    expect(start.out).toMatch(/^A second key pair is being prepared; .* Next: shoot-flux keys show --kubeconfig/);
    expect(annotationsOf('ConfigMap', 'garden-foo', 'flux-config')[operation]).toBe('rotate-ssh-keypair-start');
    const next = await run('operator', 'keys rotate', '--project', 'rotating');
    expect(next.out).toContain('A second key pair is prepared. Next: add its public key to ssh://');
    expect(annotationsOf('ConfigMap', 'garden-rotating', 'flux-config')).toEqual({});
    const end = await run('operator', 'keys rotate', '--project', 'rotating', '--complete');
    expect(end.out).toMatch(/^Key SHA256:\S+ replaces SHA256:\S+ within a minute\. Remove the old key/);
    expect(annotationsOf('ConfigMap', 'garden-rotating', 'flux-config')[operation]).toBe('rotate-ssh-keypair-complete');
  });

  it.each<[Who, string, number, string]>([
    ['member', 'keys', 2, 'say "show" or "rotate"'],
    ['member', 'keys show --complete', 2, '--complete belongs to "rotate"'],
    ['member', 'keys rotate --complete', 1, 'no second key pair is prepared; prepare one with: shoot-flux keys rotate'],
    ['nobody', 'keys show', 3, 'These credentials may not read Secret flux-source and ConfigMap flux-config'],
    ['operator', 'keys show --project bar', 1, 'Secret garden-bar/flux-source does not exist; set repositoryType to'],
    ['operator', 'keys show --project https', 1, 'Secret garden-https/flux-source has no key pair'],
    ['operator', 'keys rotate --project busy', 1, 'already has the annotation gardener.cloud/operation=other'],
  ])('%s with %s ends with %i', async (who, line, expected, message) => {
    const { code, out, err } = await run(who, line);
    expect(err).toContain(message);
    expect(out + err).not.toContain('PRIVATE KEY');
    expect([out, code]).toEqual(['', expected]);
  });
});
