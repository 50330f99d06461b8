import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { membership, projectOf, shootOn, startGarden, statusMapOf } from '../fleet/testing.ts';
import { shootFlux } from './testing.ts';

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString().replace(/\.\d+/, '');
const sentence =
  "GitRepository flux-system/main-gitrepo: github.com rejects the SSH key; add the public key of Secret flux-source in the project's namespace.";

const objects = [
  ...['bar', 'lot'].flatMap(projectOf),
  shootOn('aws-1', 'garden-foo', 'good', { metadata: { name: 'good', labels: { stage: 'prod' } } }),
  shootOn('aws-1', 'garden-foo', 'bad'),
  shootOn('aws-2', 'garden-foo', 'worse', { metadata: { name: 'worse', labels: { stage: 'prod' } } }),
  shootOn('aws-2', 'garden-bar', 'asleep', {
    metadata: { name: 'asleep', labels: { 'name.seed.gardener.cloud/aws-9': 'true' } },
  }),
  shootOn('aws-3', 'garden-bar', 'silent'),
  shootOn('aws-3', 'garden-bar', 'other', {
    metadata: { name: 'other', labels: { 'extensions.extensions.gardener.cloud/shoot-flux': 'false' } },
  }),
  statusMapOf(
    'garden-foo',
    {
      good: { state: 'Ready', flux: 'v2.9.4' },
      bad: { state: 'Not Ready', since: ago(30), flux: 'v2.9.4', sentence },
      worse: { state: 'Not Ready', since: ago(300), flux: 'v2.8.8', sentence: 'The quota has no room.' },
    },
    { Rollout: 'Revision 0123456789ab is paused, because more than 1 failed.', note: 'ours' },
  ),
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'garden' } },
  statusMapOf('garden', {}, { LandscapeRollout: 'Revision ba9876543210 is under way.' }),
  statusMapOf(
    'garden-lot',
    {
      ...Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`good-${index}`, { state: 'Ready' as const }])),
      late: { state: 'Progressing' },
      // As a member may write it: lineText would clean it.
    },
    { late: 'Progressing: tea\u001b]0;title\u0007\nfaked', Suspended: 'by mia\u009b2J\nfaked' },
  ),
  ...membership('nick', 'lot', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }]),
  statusMapOf('garden-bar', { asleep: { state: 'Hibernated', flux: 'v2.9.4' } }),
];

let garden: Awaited<ReturnType<typeof startGarden>>;
beforeAll(async () => {
  garden = await startGarden(objects);
});
afterAll(() => garden[Symbol.asyncDispose]());

const status = (who: 'member' | 'operator' | 'nobody', ...args: string[]) =>
  shootFlux(['status', '--kubeconfig', garden.people[who], ...args]);

describe('shoot-flux status', () => {
  it('shows a member what is not Ready first, the oldest before the others, and a line of counts', async () => {
    const { code, out, err } = await status('member');
    expect(err).toBe('');
    expect(out.split('\n')).toEqual([
      'NAME    STATE       SINCE   FLUX     SEED    MESSAGE',
      'worse   Not Ready   5h      v2.8.8   aws-2   The quota has no room.',
      expect.stringMatching(/^bad {5}Not Ready {3}30m {5}v2\.9\.4 {3}aws-1 {3}GitRepository .{60,70}…$/),
      'good    Ready               v2.9.4   aws-1',
      '',
      'Rollout: Revision 0123456789ab is paused, because more than 1 failed.',
      '2 not Ready, 0 progressing, 1 Ready of 3 Shoots',
      '',
    ]);
    expect(code).toBe(1);
  });

  it('shows an operator all projects, and a project by its name', async () => {
    const all = await status('operator', '-A');
    expect(all.out).toContain('Rollout of the operators: Revision ba9876543210 is under way.\n');
    expect(all.out).toContain('NAMESPACE    NAME     STATE');
    expect(all.out).toContain('2 not Ready, 2 progressing, 1 hibernated, 51 Ready of 56 Shoots');
    const one = await status('operator', '--project', 'bar');
    expect(one.out).toMatch(
      /^NAME.*\nsilent {3}Progressing +\d+s +aws-3 +No state has been reported yet; .*\nasleep {3}Hib/,
    );
    expect(one.code).toBe(1);
    expect((await status('operator', '--project', 'bar', '--state', 'hibernated')).code).toBe(0);
  });

  it('lists of more than fifty Shoots those that are not well, unless it is asked for all', async () => {
    const { out, err } = await status('operator', '--project', 'lot');
    expect(out).toMatch(/^NAME .*\nlate .*\n\nSuspended: .*\n0 not Ready, 1 progressing, 50 Ready of 51 Shoots\n$/);
    expect(err).toBe('Only Shoots that are progressing or not Ready are listed; -o wide lists all.\n');
    const wide = await status('operator', '--project', 'lot', '-o', 'wide');
    expect(wide.out.match(/^good-/gm)).toHaveLength(50);
    expect(wide.err).toBe('');
  });

  it.each([
    [
      ['-l', 'stage=prod'],
      ['worse', 'good'],
    ],
    [
      ['--seed', 'aws-1'],
      ['bad', 'good'],
    ],
    [
      ['--state', 'not-ready'],
      ['worse', 'bad'],
    ],
    [['--state', 'ready,hibernated', '--seed', 'aws-2'], []],
  ])('filters with %j', async (args, names) => {
    const { out } = await status('member', ...args, '-o', 'name');
    expect(out).toBe(names.map((name) => `${name}\n`).join(''));
  });

  it('shows a Shoot that is migrated on both seeds', async () => {
    const { out, code } = await status('operator', '-A', '--seed', 'aws-9');
    expect(out).toMatch(/asleep .* aws-2,aws-9\n/);
    expect(code).toBe(0);
  });

  it('prints no control characters that a member has written', async () => {
    for (const output of ['table', 'wide']) {
      const { out } = await status('operator', '--project', 'lot', '-o', output);
      expect(out).not.toMatch(/[^\P{Cc}\n]/u);
      expect(out).not.toMatch(/^faked/m);
      expect(out).toMatch(/^late .*faked$/m);
    }
  });

  it('says that seeds are not seen instead of showing none', async () => {
    expect((await status('nobody', '--project', 'lot', '--state', 'not-ready')).code).toBe(0);
    const { err, code } = await status('nobody', '--project', 'lot', '--seed', 'aws-1');
    expect(err).toContain('These credentials may not list Shoots in namespace garden-lot');
    expect(code).toBe(3);
  });

  it('has a form for programs, in JSON and YAML, with whole sentences', async () => {
    const { out } = await status('member', '-o', 'json');
    const { apiVersion, kind, items, counts } = JSON.parse(out);
    expect([apiVersion, kind]).toEqual(['shoot-flux/v1', 'Status']);
    expect(items[1]).toEqual({
      ...{ namespace: 'garden-foo', name: 'bad', state: 'Not Ready', since: expect.any(String) },
      ...{ flux: 'v2.9.4', seed: 'aws-1', sentence },
    });
    expect(counts).toEqual({ 'Not Ready': 2, Progressing: 0, Hibernated: 0, Ready: 1, all: 3 });
    expect((await status('member', '-o', 'yaml')).out).toContain('apiVersion: shoot-flux/v1\nkind: Status\n');
    expect((await status('member', '-o', 'wide')).out).toContain(sentence);
  });

  it.each<['member' | 'nobody' | 'operator', string[], number, string]>([
    ['nobody', [], 3, 'These credentials may not read ConfigMap flux-status in namespace garden-foo; ask an owner'],
    [
      'member',
      ['-A'],
      3,
      'These credentials may not read ConfigMap flux-status in all projects; name one with --project',
    ],
    ['member', ['--project', 'bar'], 3, 'These credentials may not read ConfigMap flux-status in namespace garden-bar'],
    ['operator', ['--project', 'none'], 1, 'Project none does not exist; check its name'],
    [
      'operator',
      ['-n', 'default'],
      3,
      'No Shoot in namespace default has the extension shoot-flux: enable it for a Shoot',
    ],
    ['member', ['-A', '-n', 'a'], 2, 'omit --namespace or --all-namespaces'],
    ['member', ['--state', 'broken'], 2, '--state broken is none of not-ready, progressing, hibernated, ready'],
    ['member', ['-o', 'xml'], 2, 'status: -o xml is not table, wide, json, yaml or name'],
    ['member', ['--output', 'xml'], 2, 'status: --output xml is not table, wide, json, yaml or name'],
    ['member', ['--context', 'other'], 1, 'current-context other is not among its contexts'],
  ])('%s with %j ends with %i', async (who, args, expected, message) => {
    const { code, out, err } = await status(who, ...args);
    expect(err).toContain(message);
    expect(out).toBe('');
    expect(code).toBe(expected);
  });
});
