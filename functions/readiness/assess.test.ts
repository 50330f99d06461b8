import { describe, expect, it } from 'vitest';
import { appliedFactory } from '../../shared/gardener/testing.ts';
import type { Applied } from '../../shared/gardener/types.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { assess as assessAfter, assessAsUnknown, type Observed } from './assess.ts';
import { applied, deployments, kustomization, live, object, source } from './shoot.testing.ts';

const now = new Date('2026-03-04T05:06:07Z');
const assess = (of: Applied, observed: Observed) => assessAfter(of, observed, { conditions: [], now });

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

  it('says what to set where nobody has chosen the targetNamespace, and stays Ready', () => {
    const keeping: Applied = { ...applied, keepsNamespace: true, managedResources: { 'shoot-flux-sync': 's' } };
    const first = assess(keeping, { deployments, source, kustomization }).verdicts[2];
    expect(first).toMatchObject({ status: 'True', reason: 'Ready' });
    expect(first?.message).toContain(
      'Nobody has chosen its targetNamespace default; set kustomizationTargetNamespace in ConfigMap flux-config to default to keep it for good, or to none ',
    );
    const released = assess({ ...keeping, managedResources: {} }, { deployments, source, kustomization });
    expect(released.verdicts[2]?.message).not.toContain('Nobody');
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

  it('reports a missing object', () => {
    const { verdicts } = assess(applied, { deployments, kustomization });
    expect(verdicts[1]).toMatchObject({
      ...{ type: 'SourceReady', reason: 'Missing', status: 'False' },
      message: expect.stringContaining(
        'GitRepository flux-system/repo does not exist in the shoot; recreate it in the shoot (with syncMode Once it is no longer managed)',
      ),
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

describe('assessAsUnknown', () => {
  it('does not report a shoot that cannot be reached as Ready, so nothing is released', () => {
    const { verdicts, flux } = assessAsUnknown(applied, 'ShootNotReachable', 'connection refused');
    expect(verdicts.map(({ status }) => status)).toEqual(['Unknown', 'Unknown', 'Unknown']);
    expect(flux.ready).toBe(false);
  });
});
