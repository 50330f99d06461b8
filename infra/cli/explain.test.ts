import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectOf, shootOn, startGarden, statusMapOf } from '../fleet/testing.ts';
import { files, fluxConfigOf, shootFlux } from './testing.ts';

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString().replace(/\.\d+/, '');
const sentence =
  "GitRepository flux-system/main-gitrepo: github.com rejects the SSH key; add the public key of Secret flux-source in the project's namespace.";
const succeeded = { type: 'Reconcile', state: 'Succeeded', progress: 100, description: 'Shoot is reconciled.' };
const status = (lastOperation: object = {}) => ({
  technicalID: 'shoot--foo--bad',
  lastOperation: { ...succeeded, lastUpdateTime: minutesAgo(12), ...lastOperation },
});
const timeWindow = { begin: '220000+0100', end: '230000+0100' };
const extended = (spec: object = {}) => ({
  maintenance: { timeWindow },
  seedName: 'aws-1',
  extensions: [{ type: 'shoot-flux', ...spec }],
});

const objects = [
  ...projectOf('bar'),
  shootOn('aws-1', 'garden-foo', 'good', { spec: extended(), status: status() }),
  shootOn('aws-1', 'garden-foo', 'bad', {
    metadata: { name: 'bad', labels: { stage: 'dev' } },
    spec: extended({
      providerConfig: { apiVersion: 'flux.extensions.gardener.cloud/v1alpha1', kind: 'FluxConfig', syncMode: 'Once' },
    }),
    status: status(),
  }),
  shootOn('aws-1', 'garden-foo', 'wrong', {
    spec: extended({
      providerConfig: { apiVersion: 'flux.extensions.gardener.cloud/v1alpha1', kind: 'FluxConfig', syncMod: 'Once' },
    }),
    status: status({ state: 'Failed', description: 'task failed' }),
  }),
  fluxConfigOf({
    fluxVersion: 'v2.9.4',
    repositoryUrl: 'https://git.example/foo/fleet.git',
    'overrides.yaml': '- selector: { matchLabels: { stage: dev } }\n  config: { flux: { version: v2.8.8 } }\n',
  }),
  shootOn('aws-1', 'garden-bar', 'leaking', { spec: extended(), status: status() }),
  fluxConfigOf({ repositoryUrl: 'https://robot:s3cr3t@git.example/foo/fleet.git' }, 'garden-bar'),
  ...projectOf('baz'),
  shootOn('aws-1', 'garden-baz', 'bar', { spec: extended(), status: status() }),
  { ...statusMapOf('garden-baz', {}), metadata: { namespace: 'garden-baz', name: 'flux-status' } },
  statusMapOf('garden-foo', {
    good: { state: 'Ready', flux: 'v2.9.4' },
    bad: { state: 'Not Ready', since: minutesAgo(30), flux: 'v2.9.4', sentence },
    wrong: { state: 'Not Ready', since: minutesAgo(30), sentence: 'providerConfig: syncMod is unknown.' },
  }),
];

let garden: Awaited<ReturnType<typeof startGarden>>;
beforeAll(async () => {
  garden = await startGarden(objects);
});
afterAll(() => garden[Symbol.asyncDispose]());

const explain = (who: 'member' | 'viewer' | 'operator' | 'nobody', ...args: string[]) =>
  shootFlux(['explain', '--kubeconfig', garden.people[who], ...args, '--shoot-kubeconfig', 'none']);

describe('shoot-flux explain', () => {
  it('shows which layer each value comes from, and the sentence of the first broken link', async () => {
    const { code, out, err } = await explain('member', 'bad');
    expect(out.split('\n')).toEqual([
      '✔ Configuration  flux-config, providerConfig: 4 values; all others are defaults',
      '                 source.spec.url         https://git.example/foo/fleet.git  flux-config: repositoryUrl',
      '                 source.spec.ref.branch  main                               flux-config: repositoryBranch',
      expect.stringMatching(/^ +flux\.version +v2\.8\.8 +flux-config: overrides\.yaml\[0\]\.config\.flux\.version$/),
      expect.stringMatching(/^ +syncMode +Once +providerConfig: syncMode$/),
      '✗ Operation      Shoot: Reconcile Succeeded (100%), 12m ago',
      `                 ${sentence}`,
      expect.stringMatching(
        /^ +\$ kubectl get configmap flux-status -o jsonpath=\{\.data\.bad\} --namespace garden-foo /,
      ),
      '                 flux-status: Not Ready for 30m, Flux v2.9.4',
      '? Delivery       it is in the seed; --seed-kubeconfig FILE of an operator shows it',
      '? Flux           it is in the shoot; omit --shoot-kubeconfig none to see it',
      '✔ Next           the next check of Flux is within 4m',
      expect.stringMatching(/^ +the maintenance window \(220000\+0100 to 230000\+0100\) (is open|begins in \d+[hm])$/),
      '',
    ]);
    expect(err).toBe("Not seen: Delivery, Flux, the landscape's defaults and policy (--config FILE).\n");
    expect(code).toBe(1);
  });

  it('tells a flux-status of somebody else from one without a line', async () => {
    const { out } = await explain('operator', 'bar', '--project', 'baz');
    expect(out).toMatch(
      /^! Operation .*\n +ConfigMap garden-baz\/flux-status is not written by shoot-flux; delete or/m,
    );
  });

  it('begins with what is wrong in the configuration, and hides credentials in it', async () => {
    const { code, out } = await explain('member', 'wrong');
    expect(out).toMatch(
      /^✗ Configuration {2}providerConfig is not valid\n +providerConfig: syncMod is not a known key; did you/,
    );
    expect(out).toMatch(/^ +\$ kubectl get shoot wrong -o yaml --namespace garden-foo/m);
    expect(out).toMatch(/^✗ Operation {6}Shoot: Reconcile Failed \(100%\), 12m ago$/m);
    expect(code).toBe(1);
    const leaking = await explain('operator', 'leaking', '--project', 'bar');
    expect(leaking.out).toContain('repositoryUrl contains credentials');
    expect(leaking.out).not.toContain('s3cr3t');
  });

  it('shows what the landscape decides to those who have its config file', async () => {
    await using written = await files({ config: { defaults: { flux: { tolerationKeys: ['dedicated'] } } } });
    const { out, err } = await explain('operator', 'good', '--config', written.paths.config, '-o', 'wide');
    expect(out).toMatch(/^ +flux\.tolerationKeys +dedicated +the landscape's defaults: flux\.tolerationKeys$/m);
    expect(err).toBe('Not seen: Delivery, Flux.\n');
  });

  it('shows a viewer all but the Secrets of the project', async () => {
    const { out, err, code } = await explain('viewer', 'good');
    expect(out).toMatch(/^✔ Configuration {2}flux-config: 3 values; all others are defaults$/m);
    expect(err).toMatch(/^Not seen: Delivery, Flux, the Secrets of the project \(role of a member\), the landscape's/);
    expect(code).toBe(0);
  });

  it('has a form for programs', async () => {
    const { out, code } = await explain('member', 'good', '-o', 'json');
    expect(JSON.parse(out)).toMatchObject({
      ...{ apiVersion: 'shoot-flux/v1', kind: 'Explanation', namespace: 'garden-foo', name: 'good', broken: null },
      links: [
        { name: 'Configuration', mark: 'ok' },
        { name: 'Operation', mark: 'ok' },
        { name: 'Delivery', mark: 'unseen' },
        { name: 'Flux', mark: 'unseen' },
        { name: 'Next', mark: 'ok', text: 'the next check of Flux is within 12m' },
      ],
      values: expect.arrayContaining([
        {
          ...{ name: 'source.spec.url', value: 'https://git.example/foo/fleet.git' },
          ...{ object: 'ConfigMap garden-foo/flux-config', path: 'repositoryUrl' },
        },
      ]),
    });
    expect(code).toBe(0);
  });

  it.each<['member' | 'nobody' | 'operator', string[], number, string]>([
    ['nobody', ['bad'], 3, 'These credentials may not read Shoot bad in namespace garden-foo; ask an owner'],
    ['member', ['bad', '--project', 'bar'], 3, 'These credentials may not read Shoot bad in namespace garden-bar'],
    ['member', ['none'], 1, 'Shoot garden-foo/none does not exist; check its name and its project'],
    ['member', [], 2, 'name one Shoot'],
    ['member', ['good', 'bad'], 2, 'name one Shoot'],
    ['member', ['../secrets'], 2, '"../secrets" is not the name of a Shoot'],
  ])('%s with %j ends with %i', async (who, args, expected, message) => {
    const { code, out, err } = await explain(who, ...args);
    expect(err).toContain(message);
    expect(out).toBe('');
    expect(code).toBe(expected);
  });
});
