import { describe, expect, it } from 'vitest';
import { appliedFactory, conditionFactory } from '../../shared/gardener/testing.ts';
import type { Applied, Condition, ShootObject } from '../../shared/gardener/types.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { judge as judgeAfter, type Seen, unknown } from './judge.ts';

const object = (kind: string, name: string): ShootObject => ({
  apiVersion: 'x.toolkit.fluxcd.io/v1',
  kind,
  namespace: 'flux-system',
  name,
});
const applied = appliedFactory({
  source: object('GitRepository', 'repo'),
  kustomization: object('Kustomization', 'apps'),
});

const live = (wanted: ShootObject, ready: 'True' | 'False', message = ''): KubeObject => ({
  apiVersion: wanted.apiVersion,
  kind: wanted.kind,
  metadata: { name: wanted.name, namespace: wanted.namespace, generation: 1 },
  status: {
    observedGeneration: 1,
    lastAppliedRevision: 'main@sha1:abc',
    conditions: [{ type: 'Ready', status: ready, reason: 'Any', message }],
  },
});
const deployment = (name: string, available: number, status = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, generation: 1 },
  spec: { replicas: 1 },
  status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: available, ...status },
});
const deployments = applied.components.map((component) => deployment(component, 1));
const source = live(object('GitRepository', 'repo'), 'True');
const kustomization = live(object('Kustomization', 'apps'), 'True');

const now = new Date('2026-03-04T05:06:07Z');
const judge = (of: Applied, seen: Seen, conditions: Condition[] = []) => judgeAfter(of, seen, { conditions, now });

describe('judge', () => {
  it('everything Ready, each condition with the config hash that it judged', () => {
    const { verdicts, flux } = judge(applied, { deployments, source, kustomization });
    expect(verdicts.map(({ type, status }) => [type, status])).toEqual([
      ['FluxReady', 'True'],
      ['SourceReady', 'True'],
      ['KustomizationReady', 'True'],
    ]);
    for (const { message } of verdicts) expect(message).toContain('c0ffee');
    expect(flux).toEqual({ configHash: 'c0ffee', ready: true, appliedRevision: 'main@sha1:abc' });
  });

  it('takes no more out of the shoot than a status holds, whatever somebody writes there', () => {
    const huge = 'x'.repeat(100_000);
    const told = (of: KubeObject, message: string) => ({
      ...of,
      spec: { url: `https://example.com/${huge}`, path: huge, ref: { branch: huge } },
      status: {
        ...{ observedGeneration: 1, lastAppliedRevision: huge, artifact: { revision: huge } },
        conditions: [{ type: 'Ready', status: message === '' ? 'True' : 'False', reason: huge, message }],
      },
    });
    for (const message of ['', huge, `couldn't find remote ref ${huge}`, `kustomize build failed: ${huge}`]) {
      const seen = { deployments, source: told(source, message), kustomization: told(kustomization, message) };
      expect(JSON.stringify(judge(applied, seen)).length).toBeLessThan(10_000);
    }
  });

  it('says what Flux says of a failing source', () => {
    const failing = live(object('GitRepository', 'repo'), 'False', 'the cat sat on the mat');
    const { verdicts, flux } = judge(applied, { deployments, source: failing, kustomization });
    expect(verdicts[1]).toMatchObject({ status: 'False', message: expect.stringContaining('the cat sat on the mat') });
    expect(flux).toEqual({
      configHash: 'c0ffee',
      ready: false,
      appliedRevision: 'main@sha1:abc',
      notReady: ['GitRepository flux-system/repo: the cat sat on the mat'],
    });
  });

  it('says what mends it, where that is known, and that it is tried again', () => {
    const failing = live(object('GitRepository', 'repo'), 'False', 'couldn\'t find remote ref "refs/heads/mian"');
    expect(judge(applied, { deployments, source: failing, kustomization }).verdicts[1]).toMatchObject({
      reason: 'RevisionNotFound',
      codes: ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'],
      message: expect.stringMatching(
        /correct spec\.ref of GitRepository flux-system\/repo in the shoot.*\(config c0ffee\)$/,
      ),
    });
  });

  it.each([
    ['main-gitrepo', true, 's', 'repositoryBranch in ConfigMap flux-config'],
    ['main-gitrepo', false, 's', 'source.template.spec.ref of the providerConfig'],
    ['repo', true, 's', 'source.template.spec.ref of the providerConfig'],
    ['main-gitrepo', true, undefined, 'spec.ref of GitRepository flux-system/main-gitrepo in the shoot'],
  ])(
    'the remedy is where %s is configured (ConfigMap: %s, ManagedResource: %s)',
    (name, fromFluxConfig, sync, place) => {
      const wanted = object('GitRepository', name);
      const managedResources: Record<string, string> = sync === undefined ? {} : { 'shoot-flux-sync': sync };
      const failing = live(wanted, 'False', 'couldn\'t find remote ref "refs/heads/mian"');
      const { verdicts } = judge(appliedFactory({ source: wanted, fromFluxConfig, managedResources }), {
        deployments,
        source: failing,
      });
      expect(verdicts[1]?.message).toContain(`correct ${place}`);
    },
  );

  it('what is suspended or being deleted is told as that', () => {
    const suspended = { ...source, spec: { suspend: true } };
    const terminating = { ...source, metadata: { ...source.metadata, deletionTimestamp: '2026-01-02T03:04:05Z' } };
    const reasons = [suspended, terminating].map((seen) => judge(applied, { deployments, source: seen }).verdicts[1]);
    expect(reasons).toMatchObject([
      { reason: 'Suspended', message: expect.stringContaining('spec.suspend of GitRepository flux-system/repo') },
      { reason: 'Terminating', message: expect.stringContaining('finalizers') },
    ]);
  });

  it('trap 15: controllers without nodes are told, but do not make the sync unready', () => {
    const { verdicts, flux } = judge(applied, { deployments: [], source, kustomization });
    expect(verdicts[0]).toMatchObject({
      status: 'False',
      message: expect.stringContaining('source-controller, kustomize-controller'),
    });
    expect(flux.ready).toBe(true);
  });

  it.each([
    [
      { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' },
      'pods "source-controller-5b" is forbidden: exceeded quota: critical-pods, requested: pods=1, used: pods=0, limited: pods=0',
      'the ResourceQuota "critical-pods" of the Shoot has no room for them; raise it',
      ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'],
    ],
    [
      { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' },
      'pods "source-controller-5b" is forbidden: violates PodSecurity "restricted:latest": unrestricted capabilities',
      'the namespace enforces the Pod Security Standard "restricted:latest"',
      ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'],
    ],
    [
      { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' },
      'ReplicaSet "source-controller-5b" has timed out progressing.',
      'nodes may be missing, or images that cannot be pulled',
      undefined,
    ],
  ])('controllers that do not come up: %j', (condition, message, remedy, codes) => {
    const waiting = { ...deployment('source-controller', 0), status: { conditions: [{ ...condition, message }] } };
    const [flux] = judge(applied, { deployments: [waiting, ...deployments.slice(1)], source, kustomization }).verdicts;
    expect(flux).toMatchObject({ status: 'False', message: expect.stringContaining(remedy) });
    expect(flux?.message).toMatch(/^Not available: source-controller; /);
    expect(flux?.codes).toEqual(codes);
  });

  it.each([
    ['the pod of the former release still runs', deployment('source-controller', 1, { replicas: 2 })],
    ['the new pod is not there yet', deployment('source-controller', 1, { updatedReplicas: 0 })],
    ['what is there is of a former generation', deployment('source-controller', 1, { observedGeneration: 0 })],
  ])('a release that does not come up does not run: %s', (_, waiting) => {
    const [flux] = judge(applied, { deployments: [waiting, ...deployments.slice(1)], source, kustomization }).verdicts;
    expect(flux).toMatchObject({ status: 'False', message: expect.stringMatching(/^Not available yet: source-c/) });
  });

  it('whatever Kubernetes says of pods that are refused is cut and holds no secret', () => {
    const url = `https://user:s3cr3t@example.com/${'x'.repeat(9000)}`;
    const condition = { type: 'ReplicaFailure', status: 'True', message: `exceeded quota: ${url}` };
    const waiting = deployment('source-controller', 0, { conditions: [condition] });
    const [flux] = judge(applied, { deployments: [waiting], source, kustomization }).verdicts;
    expect(flux?.message.length).toBeLessThan(1500);
    expect(flux?.message).not.toContain('s3cr3t');
  });

  it('tells the release that runs, which the user may have chosen where the mode has let go', () => {
    const labels = { 'app.kubernetes.io/version': 'v2.10.1' };
    const own = deployments.map((one) => ({ ...one, metadata: { ...one.metadata, labels } }));
    expect(judge(applied, { deployments: own }).verdicts[0]?.message).toBe('Flux v2.10.1 runs. (config c0ffee)');
    expect(judge(applied, { deployments }).verdicts[0]?.message).toBe(
      `Flux ${applied.fluxVersion} runs. (config c0ffee)`,
    );
  });

  it('controllers that somebody has switched off do not run', () => {
    const off = { ...deployment('source-controller', 0, { replicas: 0, updatedReplicas: 0 }), spec: { replicas: 0 } };
    const [flux] = judge(applied, { deployments: [off, ...deployments.slice(1)], source, kustomization }).verdicts;
    expect(flux).toMatchObject({
      status: 'False',
      message: expect.stringContaining('Not available: source-controller; some are scaled to 0 replicas; scale them'),
    });
  });

  it('an object that is missing is told', () => {
    const { verdicts } = judge(applied, { deployments, kustomization });
    expect(verdicts[1]).toMatchObject({
      ...{ type: 'SourceReady', reason: 'Missing', status: 'False' },
      message: expect.stringContaining('GitRepository flux-system/repo is not in the shoot; create it again'),
    });
    const followed = { ...applied, managedResources: { 'shoot-flux-sync': 's' } };
    expect(judge(followed, { deployments, kustomization }).verdicts[1]?.message).toContain('makes it anew');
  });

  it('nothing is said of a source that is not configured', () => {
    const { verdicts, flux } = judge(appliedFactory(), { deployments });
    expect(verdicts.map(({ type }) => type)).toEqual(['FluxReady']);
    expect(flux.ready).toBe(true);
  });
});

describe('a controller at work', () => {
  /** As kustomize-controller writes it at every interval and every revision. */
  const atWork = (seconds: number, observedGeneration = 1): KubeObject => ({
    ...kustomization,
    status: {
      observedGeneration,
      lastAppliedRevision: 'main@sha1:abc',
      conditions: [
        {
          ...{ type: 'Ready', status: 'Unknown', reason: 'Progressing', message: 'Reconciliation in progress' },
          lastTransitionTime: new Date(now.getTime() - seconds * 1000).toISOString(),
        },
        {
          ...{ type: 'Reconciling', status: 'True', reason: 'Progressing' },
          message: 'Running health checks for revision main@sha1:def with a timeout of 4m30s',
        },
      ],
    },
  });
  const told = (status: Condition['status'], parts: Partial<Condition> = {}) =>
    conditionFactory({ type: 'KustomizationReady', status, reason: 'R', message: 'Told. (config c0ffee)', ...parts });
  const codes = ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'];
  const seenAfter = (object: KubeObject, before: Condition) => {
    const { verdicts, flux, isOpen } = judge(applied, { deployments, source, kustomization: object }, [before]);
    return { verdict: verdicts[2], ready: flux.ready, isOpen };
  };
  const progressing = {
    verdict: {
      ...{ type: 'KustomizationReady', status: 'False', reason: 'Progressing' },
      message:
        'Kustomization flux-system/apps: Running health checks for revision main@sha1:def with a timeout of 4m30s (config c0ffee)',
    },
    ready: false,
    isOpen: undefined,
  };

  it('changes nothing while it repeats what has succeeded', () => {
    expect(seenAfter(atWork(119), told('True'))).toEqual({
      verdict: { type: 'KustomizationReady', status: 'True', reason: 'R', message: 'Told. (config c0ffee)' },
      ...{ ready: true, isOpen: true },
    });
  });

  it.each<[string, KubeObject, Condition]>([
    ['for long', atWork(120), told('True')],
    ['at a generation that has not succeeded yet', atWork(1, 0), told('True')],
    ['at another configuration', atWork(1), told('True', { message: 'Told. (config other)' })],
    ['at what was not Ready', atWork(1), told('False')],
    ['at what was not known', atWork(1), told('Unknown')],
  ])('%s is told', (_, object, before) => {
    expect(seenAfter(object, before)).toEqual(progressing);
  });

  it('a failure that somebody has to mend stays told while it is tried again', () => {
    const failing = told('False', { codes });
    const kept = { type: 'KustomizationReady', status: 'False', reason: 'R', message: 'Told. (config c0ffee)', codes };
    expect(seenAfter(atWork(60, -1), failing)).toEqual({ verdict: kept, ready: false, isOpen: true });
    expect(seenAfter(atWork(120, -1), failing)).toEqual(progressing);
  });

  it('an outcome counts at once', () => {
    const failed = live(object('Kustomization', 'apps'), 'False', 'kustomize build failed: x');
    expect(seenAfter(failed, told('True'))).toMatchObject({ verdict: { reason: 'BuildFailed' }, ready: false });
    expect(seenAfter(kustomization, told('False', { codes }))).toMatchObject({ verdict: { status: 'True' } });
  });
});

describe('unknown', () => {
  it('a shoot that cannot be asked is not Ready, so nothing is released', () => {
    const { verdicts, flux } = unknown(applied, 'ShootNotReachable', 'connection refused');
    expect(verdicts.map(({ status }) => status)).toEqual(['Unknown', 'Unknown', 'Unknown']);
    expect(flux.ready).toBe(false);
  });
});
