import { expect, it } from 'vitest';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { readiness } from './kstatus.ts';

interface Parts {
  generation?: number;
  deletionTimestamp?: string;
  suspend?: boolean;
  status?: object;
}
const condition = (type: string, status: string, message = 'reported') => ({ type, status, reason: 'Any', message });
const object = ({ generation = 1, deletionTimestamp, suspend, status }: Parts): KubeObject => ({
  apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
  kind: 'Kustomization',
  metadata: { name: 'a', generation, ...(deletionTimestamp && { deletionTimestamp }) },
  spec: suspend === undefined ? {} : { suspend },
  ...(status && { status }),
});
const ready = { observedGeneration: 1, conditions: [condition('Ready', 'True')] };

const after = (...conditions: object[]) => ({ status: { ...ready, conditions } });

it.each<[string, Parts, string]>([
  ['Ready=True for the current generation', { status: ready }, 'current'],
  ['Ready=True of a previous generation', { generation: 2, status: ready }, 'in progress'],
  ['no status yet', {}, 'in progress'],
  ['the default observedGeneration of a fresh object', { status: { observedGeneration: -1 } }, 'in progress'],
  ['Ready=False, which is usually transient', after(condition('Ready', 'False')), 'in progress'],
  ['Reconciling', after(condition('Ready', 'True'), condition('Reconciling', 'True')), 'in progress'],
  ['Stalled', after(condition('Ready', 'True'), condition('Stalled', 'True')), 'failed'],
  ['a deletion', { deletionTimestamp: '2026-01-02T03:04:05Z', status: ready }, 'terminating'],
  ['a suspended object, whose conditions are stale', { suspend: true, status: ready }, 'suspended'],
])('%s', (_, parts, state) => {
  expect(readiness(object(parts)).state).toBe(state);
});

it('says why the last attempt of a HelmRelease failed, when there are no further ones', () => {
  const stalled = (reason: string) => ({
    ...condition('Stalled', 'True', 'Failed to install after 1 attempt(s)'),
    reason,
  });
  const failed = condition('Ready', 'False', 'Helm install failed for release a/a: timeout');
  const state = (reason: string) =>
    readiness(object({ status: { ...ready, conditions: [stalled(reason), failed] } })) as { message: string };
  expect(state('RetriesExceeded').message).toBe(
    'Failed to install after 1 attempt(s): Helm install failed for release a/a: timeout',
  );
  expect(state('InvalidPath').message).toBe('Failed to install after 1 attempt(s)');
});

it('returns the step of the controller, its start, and whether it has finished this generation before', () => {
  const lastTransitionTime = '2026-01-02T03:04:05Z';
  const unknown = { ...condition('Ready', 'Unknown', 'Reconciliation in progress'), lastTransitionTime };
  const conditions = [unknown, condition('Reconciling', 'True', 'Building manifests')];
  const inProgress = (isRepeated: boolean) => ({
    ...{ state: 'in progress', message: 'Building manifests' },
    attempt: { since: lastTransitionTime, isRepeated },
  });
  expect(readiness(object({ status: { observedGeneration: 1, conditions } }))).toEqual(inProgress(true));
  expect(readiness(object({ generation: 2, status: { observedGeneration: 1, conditions } }))).toEqual(
    inProgress(false),
  );
  expect(readiness(object({ status: { observedGeneration: 1, conditions: [unknown] } }))).toMatchObject({
    message: 'Reconciliation in progress',
  });
});
