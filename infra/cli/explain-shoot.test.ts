import { gitRepositoryFactory, kustomizationFactory } from '@shoot-flux/landscape/flux/objects';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { controllerOf, shootOn, startGarden, startShoot, statusMapOf, withReady } from '../fleet/testing.ts';
import { files, fluxConfigOf, shootFlux } from './testing.ts';

const denied =
  "failed to checkout and determine revision: unable to clone 'ssh://git@github.com/foo/fleet': ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey], no supported methods remain";
const revision = 'main@sha1:8f2c1f1e2d3c4b5a69788796a5b4c3d2e1f00f1e';
const controllers = ['source', 'kustomize', 'helm', 'notification'].map((name) => controllerOf(`${name}-controller`));
const source = gitRepositoryFactory('main-gitrepo', 'ssh://git@github.com/foo/fleet');
const kustomization = withReady(kustomizationFactory('main-ks'), 'True', 'applied', {
  lastAppliedRevision: revision,
  inventory: {
    entries: [
      { id: 'a_b__Namespace', v: 'v1' },
      { id: 'a_c__Namespace', v: 'v1' },
    ],
  },
});
const shoot = (name: string) =>
  shootOn('aws-1', 'garden-foo', name, {
    spec: { seedName: 'aws-1', hibernation: { enabled: name === 'asleep' }, extensions: [{ type: 'shoot-flux' }] },
    status: {
      technicalID: `shoot--foo--${name}`,
      lastOperation: {
        type: 'Reconcile',
        state: 'Succeeded',
        progress: 100,
        description: '',
        lastUpdateTime: '2026-01-02T03:04:05Z',
      },
    },
  });

/** Helm repositories, of which those of registries report nothing. */
const helmRepositories: KubeObject = {
  ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
  metadata: { name: 'helmrepositories.source.toolkit.fluxcd.io', labels: { 'app.kubernetes.io/part-of': 'flux' } },
  spec: {
    ...{ group: 'source.toolkit.fluxcd.io', scope: 'Namespaced' },
    names: { kind: 'HelmRepository', plural: 'helmrepositories' },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};
const helmRepository = (name: string, type: string): KubeObject => ({
  ...{ apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'HelmRepository' },
  ...{ metadata: { namespace: 'flux-system', name }, spec: { url: `${type}://charts.example`, type } },
});

const stack = new AsyncDisposableStack();
let garden: Awaited<ReturnType<typeof startGarden>>;
let paths: { good: string };
beforeAll(async () => {
  const good = stack.use(
    await startShoot([
      ...controllers,
      withReady(source, 'True', 'stored', { artifact: { revision } }),
      helmRepositories,
      helmRepository('registry', 'oci'),
      kustomization,
      withReady(kustomizationFactory('apps', { path: './apps' }), 'True', 'applied', { lastAppliedRevision: revision }),
    ]),
  );
  const bad = stack.use(
    await startShoot([
      ...controllers,
      withReady(source, 'False', denied),
      kustomization,
      withReady(
        kustomizationFactory('apps'),
        'False',
        'kustomization path not found: stat /tmp/x/apps: no such file or directory',
      ),
      withReady(kustomizationFactory('leaky'), 'False', 'password: hunter2hunter2 is not accepted'),
    ]),
  );
  // Its CRDs are newer than the rights of viewers.
  const young = stack.use(await startShoot([...controllers], ['']));
  garden = stack.use(
    await startGarden(
      [
        ...['good', 'bad', 'young', 'away', 'closed', 'asleep'].map(shoot),
        fluxConfigOf({ repositoryUrl: 'ssh://git@github.com/foo/fleet', repositoryType: 'private' }),
        statusMapOf('garden-foo', {
          good: { state: 'Not Ready', since: '2026-01-02T03:04:05Z', sentence: 'It was not Ready.' },
          bad: { state: 'Not Ready', since: '2026-01-02T03:04:05Z', flux: 'v2.9.4', sentence: 'From flux-status.' },
          young: { state: 'Ready', flux: 'v2.9.4' },
          away: { state: 'Ready', flux: 'v2.9.4' },
          closed: { state: 'Ready', flux: 'v2.9.4' },
          asleep: { state: 'Hibernated', flux: 'v2.9.4' },
        }),
      ],
      {
        'good/viewerkubeconfig': good.kubeconfig('viewer-token'),
        'bad/viewerkubeconfig': bad.kubeconfig('viewer-token'),
        'young/viewerkubeconfig': young.kubeconfig('viewer-token'),
        'young/adminkubeconfig': young.kubeconfig(),
        'away/viewerkubeconfig': good.kubeconfig('viewer-token').replace(/127.0.0.1:\d+/, '127.0.0.1:1'),
      },
    ),
  );
  const written = stack.use(await files({ good: good.kubeconfig('viewer-token') }));
  paths = written.paths;
});
afterAll(() => stack.disposeAsync());

const explain = (...args: string[]) => shootFlux(['explain', '--kubeconfig', garden.people.member, ...args]);

const at = ` at ${revision}`;

describe('shoot-flux explain, in the shoot', () => {
  it('shows sources and Kustomizations with what they have applied', async () => {
    const { out, err, code } = await explain('good');
    expect(out.split('\n').slice(4, 12)).toEqual([
      expect.stringMatching(/^! Operation {6}Shoot: Reconcile Succeeded \(100%\), \d+d ago$/),
      expect.stringMatching(/^ +flux-status: Not Ready for \d+d$/),
      '? Delivery       it is in the seed; --seed-kubeconfig FILE of an operator shows it',
      '✔ Flux           Flux is running; all 3 objects are Ready',
      `                 GitRepository flux-system/main-gitrepo is Ready${at}`,
      `                 Kustomization flux-system/apps is Ready${at}, 0 objects`,
      `                 Kustomization flux-system/main-ks is Ready${at}, 2 objects`,
      '                 Read with a kubeconfig of a viewer that expires after 10 minutes.',
    ]);
    expect(err).toBe("Not seen: Delivery, the landscape's defaults and policy (--config FILE).\n");
    expect(code).toBe(0);
  });

  it('marks what the rest follows from, with its sentence and the command that shows it', async () => {
    const { out, code } = await explain('bad', '-o', 'wide');
    expect(out).toMatch(
      /^✗ Flux {11}3 parts are not Ready; Flux has 4 objects\n {17}GitRepository flux-system\/main-gitrepo: github\.com rejects the SSH key; put a private key .* Flux says: .*\n {17}\$ kubectl get gitrepository\.source\.toolkit\.fluxcd\.io main-gitrepo -o yaml --namespace flux-system --kubeconfig shoot\.kubeconfig$/m,
    );
    expect(out).toMatch(/^ {17}Kustomization flux-system\/apps: the source has no folder .*; create it/m);
    expect(out).toContain('Kustomization flux-system/leaky: password: *** is not accepted');
    expect(out).not.toContain('hunter2');
    expect(out.match(/^✗/gm)).toHaveLength(1);
    expect(code).toBe(1);
  });

  it('asks for an admin where a viewer does not see the kinds of Flux yet', async () => {
    const { out, code } = await explain('young');
    expect(out).toMatch(/^ +GitRepository flux-system\/main-gitrepo does not exist in the shoot; the next/m);
    expect(out).toContain('Read with a kubeconfig of an admin that expires after 10 minutes.');
    expect(code).toBe(1);
  });

  it.each([
    ['away', [], 0, /^\? Flux {11}GET custom\S+: no answer from the shoot .*; or pass --shoot-kubeconfig FILE$/m],
    [
      'closed',
      [],
      0,
      /^\? Flux {11}these credentials do not reach into the shoot; get the right to create shoots\/viewerkubeconfig, or pass .*$/m,
    ],
    ['asleep', [], 0, /^\? Flux {11}the Shoot is hibernated$/m],
    ['bad', ['--shoot-kubeconfig', 'none'], 1, /^✗ Operation .*\n {17}From flux-status\.$/m],
  ])('of Shoot %s with %j says what it cannot see', async (name, args, expected, text) => {
    const { out, err, code } = await explain(name, ...args);
    expect(out).toMatch(text);
    expect(err).toBe("Not seen: Delivery, Flux, the landscape's defaults and policy (--config FILE).\n");
    expect(code).toBe(expected);
  });

  it('takes a kubeconfig of the shoot, and asks for none', async () => {
    garden.api.requests.length = 0;
    const { out, code } = await explain('closed', '--shoot-kubeconfig', paths.good);
    expect(out).toContain(`Read with ${paths.good}.`);
    expect(garden.api.requestsLike({ method: 'POST' })).toEqual([]);
    expect(code).toBe(0);
  });
});
