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
    const failing = live(object('GitRepository', 'repo'), 'False', 'authentication failed');
    const { verdicts, flux } = judge(applied, { deployments, source: failing, kustomization });
    expect(verdicts[1]).toMatchObject({ status: 'False', message: expect.stringContaining('authentication failed') });
    expect(flux).toMatchObject({ ready: false, notReady: [expect.stringContaining('authentication failed')] });
  });

  it('trap 15: controllers without nodes are told, but do not make the sync unready', () => {
    const { verdicts, flux } = judge(applied, { deployments: [], source, kustomization });
    expect(verdicts[0]).toMatchObject({
      status: 'False',
      message: expect.stringContaining('source-controller, kustomize-controller'),
    });
    expect(flux.ready).toBe(true);
  });

  it('an object that is missing is told', () => {
    const { verdicts } = judge(applied, { deployments, kustomization });
    expect(verdicts[1]).toMatchObject({ type: 'SourceReady', reason: 'Missing', status: 'False' });
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
