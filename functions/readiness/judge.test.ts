import { describe, expect, it } from 'vitest';
import { appliedFactory } from '../../shared/gardener/testing.ts';
import type { ShootObject } from '../../shared/gardener/types.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { judge, unknown } from './judge.ts';

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
const deployment = (name: string, availableReplicas: number): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, generation: 1 },
  spec: { replicas: 1 },
  status: { observedGeneration: 1, availableReplicas },
});
const deployments = applied.components.map((component) => deployment(component, 1));
const source = live(object('GitRepository', 'repo'), 'True');
const kustomization = live(object('Kustomization', 'apps'), 'True');

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
    ['main-gitrepo', true, 's', 'repositoryBranch of ConfigMap flux-config'],
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

describe('unknown', () => {
  it('a shoot that cannot be asked is not Ready, so nothing is released', () => {
    const { verdicts, flux } = unknown(applied, 'ShootNotReachable', 'connection refused');
    expect(verdicts.map(({ status }) => status)).toEqual(['Unknown', 'Unknown', 'Unknown']);
    expect(flux.ready).toBe(false);
  });
});
