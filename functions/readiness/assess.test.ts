import { describe, expect, it } from 'vitest';
import { appliedFactory, conditionFactory } from '../../shared/gardener/testing.ts';
import type { Applied, Condition, ShootObject } from '../../shared/gardener/types.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { assess as assessAfter, assessAsUnknown, type Observed } from './assess.ts';

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
const assess = (of: Applied, observed: Observed, conditions: Condition[] = []) =>
  assessAfter(of, observed, { conditions, now });

describe('assess', () => {
  it('reports True for everything that is Ready, each with the config hash that it is about', () => {
    const { verdicts, flux } = assess(applied, { deployments, source, kustomization });
    expect(verdicts.map(({ type, status }) => [type, status])).toEqual([
      ['FluxReady', 'True'],
      ['SourceReady', 'True'],
      ['KustomizationReady', 'True'],
    ]);
    for (const { message } of verdicts) expect(message).toContain('c0ffee');
    expect(flux).toEqual({ configHash: 'c0ffee', ready: true, appliedRevision: 'main@sha1:abc' });
  });

  it('limits the length of everything that it copies from the shoot', () => {
    const huge = 'x'.repeat(100_000);
    const withHugeStatus = (of: KubeObject, message: string) => ({
      ...of,
      spec: { url: `https://example.com/${huge}`, path: huge, ref: { branch: huge } },
      status: {
        ...{ observedGeneration: 1, lastAppliedRevision: huge, artifact: { revision: huge } },
        conditions: [{ type: 'Ready', status: message === '' ? 'True' : 'False', reason: huge, message }],
      },
    });
    for (const message of ['', huge, `couldn't find remote ref ${huge}`, `kustomize build failed: ${huge}`]) {
      const seen = {
        deployments,
        source: withHugeStatus(source, message),
        kustomization: withHugeStatus(kustomization, message),
      };
      expect(JSON.stringify(assess(applied, seen)).length).toBeLessThan(10_000);
    }
  });

  it('passes on the message of Flux about a failing source', () => {
    const failing = live(object('GitRepository', 'repo'), 'False', 'the cat sat on the mat');
    const { verdicts, flux } = assess(applied, { deployments, source: failing, kustomization });
    expect(verdicts[1]).toMatchObject({ status: 'False', message: expect.stringContaining('the cat sat on the mat') });
    expect(flux).toEqual({
      configHash: 'c0ffee',
      ready: false,
      appliedRevision: 'main@sha1:abc',
      notReady: ['GitRepository flux-system/repo: the cat sat on the mat'],
    });
  });

  it('names the remedy and a retryable code for a known failure', () => {
    const failing = live(object('GitRepository', 'repo'), 'False', 'couldn\'t find remote ref "refs/heads/mian"');
    expect(assess(applied, { deployments, source: failing, kustomization }).verdicts[1]).toMatchObject({
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
    'the remedy names the place where %s is configured (ConfigMap: %s, ManagedResource: %s)',
    (name, fromFluxConfig, sync, place) => {
      const wanted = object('GitRepository', name);
      const managedResources: Record<string, string> = sync === undefined ? {} : { 'shoot-flux-sync': sync };
      const failing = live(wanted, 'False', 'couldn\'t find remote ref "refs/heads/mian"');
      const { verdicts } = assess(appliedFactory({ source: wanted, fromFluxConfig, managedResources }), {
        deployments,
        source: failing,
      });
      expect(verdicts[1]?.message).toContain(`correct ${place}`);
    },
  );

  it('reports suspended objects and objects that are being deleted as such', () => {
    const suspended = { ...source, spec: { suspend: true } };
    const terminating = { ...source, metadata: { ...source.metadata, deletionTimestamp: '2026-01-02T03:04:05Z' } };
    const reasons = [suspended, terminating].map((seen) => assess(applied, { deployments, source: seen }).verdicts[1]);
    expect(reasons).toMatchObject([
      { reason: 'Suspended', message: expect.stringContaining('spec.suspend of GitRepository flux-system/repo') },
      { reason: 'Terminating', message: expect.stringContaining('finalizers') },
    ]);
  });

  it('trap 15: reports controllers without nodes, but does not count the sync as not Ready', () => {
    const { verdicts, flux } = assess(applied, { deployments: [], source, kustomization });
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
      'nodes may be missing, or images cannot be pulled',
      undefined,
    ],
  ])('explains why controllers do not become available: %j', (condition, message, remedy, codes) => {
    const waiting = { ...deployment('source-controller', 0), status: { conditions: [{ ...condition, message }] } };
    const [flux] = assess(applied, { deployments: [waiting, ...deployments.slice(1)], source, kustomization }).verdicts;
    expect(flux).toMatchObject({ status: 'False', message: expect.stringContaining(remedy) });
    expect(flux?.message).toMatch(/^Not available: source-controller; /);
    expect(flux?.codes).toEqual(codes);
  });

  it.each([
    ['the pod of the previous release is still running', deployment('source-controller', 1, { replicas: 2 })],
    ['the new pod does not exist yet', deployment('source-controller', 1, { updatedReplicas: 0 })],
    ['the status is of a previous generation', deployment('source-controller', 1, { observedGeneration: 0 })],
  ])('does not report a release as available before its rollout is complete: %s', (_, waiting) => {
    const [flux] = assess(applied, { deployments: [waiting, ...deployments.slice(1)], source, kustomization }).verdicts;
    expect(flux).toMatchObject({ status: 'False', message: expect.stringMatching(/^Not available yet: source-c/) });
  });

  it('shortens the messages of Kubernetes about rejected pods and removes secrets', () => {
    const url = `https://user:s3cr3t@example.com/${'x'.repeat(9000)}`;
    const condition = { type: 'ReplicaFailure', status: 'True', message: `exceeded quota: ${url}` };
    const waiting = deployment('source-controller', 0, { conditions: [condition] });
    const [flux] = assess(applied, { deployments: [waiting], source, kustomization }).verdicts;
    expect(flux?.message.length).toBeLessThan(1500);
    expect(flux?.message).not.toContain('s3cr3t');
  });

  it('reports the release that is running, which users may choose once it is released to them', () => {
    const labels = { 'app.kubernetes.io/version': 'v2.10.1' };
    const own = deployments.map((one) => ({ ...one, metadata: { ...one.metadata, labels } }));
    expect(assess(applied, { deployments: own }).verdicts[0]?.message).toBe('Flux v2.10.1 is running. (config c0ffee)');
    expect(assess(applied, { deployments }).verdicts[0]?.message).toBe(
      `Flux ${applied.fluxVersion} is running. (config c0ffee)`,
    );
  });

  it('reports controllers that are scaled to 0 replicas', () => {
    const off = { ...deployment('source-controller', 0, { replicas: 0, updatedReplicas: 0 }), spec: { replicas: 0 } };
    const [flux] = assess(applied, { deployments: [off, ...deployments.slice(1)], source, kustomization }).verdicts;
    expect(flux).toMatchObject({
      status: 'False',
      message: expect.stringContaining('Not available: source-controller; some are scaled to 0 replicas; scale them'),
    });
  });

  it('reports a missing object', () => {
    const { verdicts } = assess(applied, { deployments, kustomization });
    expect(verdicts[1]).toMatchObject({
      ...{ type: 'SourceReady', reason: 'Missing', status: 'False' },
      message: expect.stringContaining('GitRepository flux-system/repo does not exist in the shoot; create it again'),
    });
    const followed = { ...applied, managedResources: { 'shoot-flux-sync': 's' } };
    expect(assess(followed, { deployments, kustomization }).verdicts[1]?.message).toContain('recreates it');
  });

  it('reports nothing about a source that is not configured', () => {
    const { verdicts, flux } = assess(appliedFactory(), { deployments });
    expect(verdicts.map(({ type }) => type)).toEqual(['FluxReady']);
    expect(flux.ready).toBe(true);
  });
});

describe('assess while a controller reconciles', () => {
  /** The status that kustomize-controller writes at every interval and every revision. */
  const reconciling = (seconds: number, observedGeneration = 1): KubeObject => ({
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
  const published = (status: Condition['status'], parts: Partial<Condition> = {}) =>
    conditionFactory({
      type: 'KustomizationReady',
      status,
      reason: 'R',
      message: 'Published. (config c0ffee)',
      ...parts,
    });
  const codes = ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'];
  const assessAfterwards = (object: KubeObject, before: Condition) => {
    const { verdicts, flux, isReconciling } = assess(applied, { deployments, source, kustomization: object }, [before]);
    return { verdict: verdicts[2], ready: flux.ready, isReconciling };
  };
  const progressing = {
    verdict: {
      ...{ type: 'KustomizationReady', status: 'False', reason: 'Progressing' },
      message:
        'Kustomization flux-system/apps: Running health checks for revision main@sha1:def with a timeout of 4m30s (config c0ffee)',
    },
    ready: false,
    isReconciling: undefined,
  };

  it('keeps True while the controller repeats a success', () => {
    expect(assessAfterwards(reconciling(119), published('True'))).toEqual({
      verdict: { type: 'KustomizationReady', status: 'True', reason: 'R', message: 'Published. (config c0ffee)' },
      ...{ ready: true, isReconciling: true },
    });
  });

  it.each<[string, KubeObject, Condition]>([
    ['for a long time', reconciling(120), published('True')],
    ['a generation that has not succeeded yet', reconciling(1, 0), published('True')],
    ['another configuration', reconciling(1), published('True', { message: 'Published. (config other)' })],
    ['what was not Ready', reconciling(1), published('False')],
    ['what was Unknown', reconciling(1), published('Unknown')],
  ])('reports a controller that reconciles %s', (_, object, before) => {
    expect(assessAfterwards(object, before)).toEqual(progressing);
  });

  it('keeps a failure that a user has to correct while Flux retries', () => {
    const failing = published('False', { codes });
    const kept = {
      type: 'KustomizationReady',
      status: 'False',
      reason: 'R',
      message: 'Published. (config c0ffee)',
      codes,
    };
    expect(assessAfterwards(reconciling(60, -1), failing)).toEqual({
      verdict: kept,
      ready: false,
      isReconciling: true,
    });
    expect(assessAfterwards(reconciling(120, -1), failing)).toEqual(progressing);
  });

  it('reports an outcome at once', () => {
    const failed = live(object('Kustomization', 'apps'), 'False', 'kustomize build failed: x');
    expect(assessAfterwards(failed, published('True'))).toMatchObject({
      verdict: { reason: 'BuildFailed' },
      ready: false,
    });
    expect(assessAfterwards(kustomization, published('False', { codes }))).toMatchObject({
      verdict: { status: 'True' },
    });
  });
});

describe('assessAsUnknown', () => {
  it('does not report a shoot that cannot be reached as Ready, so nothing is released', () => {
    const { verdicts, flux } = assessAsUnknown(applied, 'ShootNotReachable', 'connection refused');
    expect(verdicts.map(({ status }) => status)).toEqual(['Unknown', 'Unknown', 'Unknown']);
    expect(flux.ready).toBe(false);
  });
});
