import { describe, expect, it } from 'vitest';
import { conditionFactory } from '../../shared/gardener/testing.ts';
import type { Condition } from '../../shared/gardener/types.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { assess } from './assess.ts';
import { applied, deployments, kustomization, live, object, source } from './shoot.testing.ts';

const now = new Date('2026-03-04T05:06:07Z');

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
      ...{ type: 'KustomizationReady', status, reason: 'R', message: 'Published. (config c0ffee)', ...parts },
    });
  const codes = ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'];
  const assessAfterwards = (object: KubeObject, before: Condition) => {
    const { verdicts, flux, isReconciling } = assess(
      applied,
      { deployments, source, kustomization: object },
      { conditions: [before], now },
    );
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

  const kept = (status: Condition['status'], parts: object = {}) => ({
    verdict: { type: 'KustomizationReady', status, reason: 'R', message: 'Published. (config c0ffee)', ...parts },
    ...{ ready: status === 'True', isReconciling: true },
  });

  it('keeps True while the controller repeats a success', () => {
    expect(assessAfterwards(reconciling(119), published('True'))).toEqual(kept('True'));
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
    expect(assessAfterwards(reconciling(60, -1), failing)).toEqual(kept('False', { codes }));
    expect(assessAfterwards(reconciling(120, -1), failing)).toEqual(progressing);
  });

  it('reports an outcome at once', () => {
    const failed = live(object('Kustomization', 'apps'), 'False', 'kustomize build failed: x');
    const { verdict, ready } = assessAfterwards(failed, published('True'));
    expect([verdict?.reason, ready]).toEqual(['BuildFailed', false]);
    expect(assessAfterwards(kustomization, published('False', { codes })).verdict?.status).toBe('True');
  });
});
