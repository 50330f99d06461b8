import { describe, expect, it } from 'vitest';
import { findDefinitions } from '../../infra/functions.ts';
import { HIBERNATED } from '../../shared/gardener/operation.ts';
import {
  appliedFactory,
  clusterFactory,
  conditionFactory,
  extensionFactory,
  lastOperationFactory,
  managedResourceFactory,
} from '../../shared/gardener/testing.ts';
import type { Extension, ManagedResource } from '../../shared/gardener/types.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';

const definitions = await findDefinitions();

/** Returns the functions that a change of an object wakes, by the same fingerprints as in the watcher. */
function woken(kind: string, before: KubeObject | undefined, after: KubeObject): string[] {
  const matching = definitions.filter(({ subscriptions }) =>
    subscriptions.some((subscription) => {
      if (subscription.resource.kind !== kind || subscription.isNews?.(after) === false) return false;
      const fingerprint = (object: KubeObject | undefined) =>
        object === undefined || subscription.matches?.(object) === false || subscription.isNews?.(object) === false
          ? 'absent'
          : JSON.stringify(subscription.wakes(object));
      return fingerprint(before) !== fingerprint(after);
    }),
  );
  return matching.map(({ name }) => name).sort();
}

const extension = (parts: Parameters<typeof extensionFactory>[0]): Extension => extensionFactory(parts);
const succeeded = { lastOperation: lastOperationFactory() };
const withSource = appliedFactory({
  source: {
    apiVersion: 'source.toolkit.fluxcd.io/v1',
    kind: 'GitRepository',
    namespace: 'flux-system',
    name: 'main-gitrepo',
  },
});
const bootstrapped = { at: '2026-01-02T03:04:05Z', fluxVersion: 'v2.9.4', configHash: 'a' };
const readyFlux = conditionFactory({ type: 'FluxReady', message: 'Flux is running. (config c0ffee)' });
const processing = { lastOperation: lastOperationFactory({ state: 'Processing' }) };
const annotated = (timestamp: string) => ({
  annotations: { 'gardener.cloud/operation': 'reconcile', 'gardener.cloud/timestamp': timestamp },
});

const deleting = (timestamp: string) => ({
  deletionTimestamp: '2026-01-02T03:04:05Z',
  annotations: { 'gardener.cloud/timestamp': timestamp },
});

describe('a write wakes only the functions that read the written fields', () => {
  it.each<[string, Parameters<typeof extensionFactory>[0], Parameters<typeof extensionFactory>[0], string[]]>([
    [
      'gardenlet sets the operation annotation',
      {},
      { metadata: annotated('2026-01-02T03:04:05Z') },
      ['managed-resources'],
    ],
    [
      'gardenlet sets the operation annotation again',
      { metadata: annotated('2026-01-02T03:04:05Z') },
      { metadata: annotated('2026-01-02T03:04:06Z') },
      ['managed-resources'],
    ],
    [
      'gardenlet repeats a deletion',
      { metadata: deleting('2026-01-02T03:04:05Z') },
      { metadata: deleting('2026-01-02T03:09:05Z') },
      ['managed-resources'],
    ],
    ['managed-resources removes the annotation', { metadata: annotated('2026-01-02T03:04:05Z') }, {}, []],
    ['managed-resources reports Processing', {}, { status: processing }, ['project-status']],
    [
      'managed-resources records what it applies',
      { status: processing },
      { status: { ...processing, state: { applied: withSource } } },
      [],
    ],
    [
      'managed-resources reports Succeeded',
      { status: { ...processing, state: { applied: withSource } } },
      { status: { ...succeeded, state: { applied: withSource } } },
      ['readiness'],
    ],
    [
      'managed-resources reports that the Shoot is hibernated, or awake again',
      { status: { ...succeeded, state: { applied: withSource } } },
      {
        status: {
          lastOperation: lastOperationFactory({ description: HIBERNATED }),
          state: { applied: withSource },
        },
      },
      ['project-status', 'readiness'],
    ],
    [
      'managed-resources reports Succeeded for Flux without a source',
      { status: { ...processing, state: { applied: appliedFactory() } } },
      { status: { ...succeeded, state: { applied: appliedFactory() } } },
      ['readiness', 'sync-mode'],
    ],
    [
      'sync-mode records the first success',
      { status: { state: { applied: appliedFactory() } } },
      {
        status: {
          state: {
            applied: appliedFactory(),
            bootstrapped: { at: '2026-01-02T03:04:05Z', fluxVersion: 'v2.9.4', configHash: 'a' },
          },
        },
      },
      ['managed-resources'],
    ],
    [
      'readiness finds everything Ready, and has published it',
      { status: { ...processing, state: { applied: appliedFactory() } } },
      { status: { ...succeeded, state: { applied: appliedFactory() }, conditions: [readyFlux] } },
      ['project-status', 'readiness', 'sync-mode'],
    ],
    [
      'a Ready Shoot is reconciled',
      { status: { ...succeeded, state: { applied: appliedFactory(), bootstrapped }, conditions: [readyFlux] } },
      { status: { ...processing, state: { applied: appliedFactory(), bootstrapped }, conditions: [readyFlux] } },
      [],
    ],
    ['readiness writes a condition', {}, { status: { conditions: [conditionFactory({ type: 'FluxReady' })] } }, []],
    [
      'readiness finds everything Ready',
      { status: { ...succeeded, state: { applied: withSource } } },
      {
        status: {
          ...succeeded,
          state: { applied: withSource },
          providerStatus: { flux: { configHash: withSource.configHash, ready: true } },
        },
      },
      ['sync-mode'],
    ],
  ])('%s', (_, before, after, expected) => {
    expect(woken('Extension', extension(before), extension(after))).toEqual(expected);
  });

  const resource = (status: ManagedResource['status'], generation = 1) =>
    managedResourceFactory('shoot-flux-crds', 's', { metadata: { generation }, status });
  const applied = (observedGeneration: number) => ({ observedGeneration, conditions: [conditionFactory()] });
  const applying = { conditions: [conditionFactory({ status: 'Progressing', reason: 'ApplyProgressing' })] };
  const failing = (status: 'False' | 'Progressing', observedGeneration?: number) => ({
    conditions: [conditionFactory({ status, reason: 'ApplyFailed', message: 'no match' })],
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
  });
  const health = [conditionFactory(), conditionFactory({ type: 'ResourcesHealthy', status: 'False' })];

  it.each<[string, KubeObject | undefined, KubeObject, string[]]>([
    ['managed-resources creates a ManagedResource', undefined, resource({}), []],
    ['it is applied', resource(applying), resource(applied(1)), ['managed-resources']],
    ['new content fails at first', resource(applying), resource(failing('False')), []],
    ['it is applied after a failure', resource(failing('False')), resource(applied(1)), ['managed-resources']],
    ['it fails after it was applied', resource(applied(1)), resource(failing('False', 1)), ['managed-resources']],
    [
      'it fails again, with Progressing in between',
      resource(failing('False', 1)),
      resource(failing('Progressing', 1)),
      [],
    ],
    ['its health changes', resource(applied(1)), resource({ observedGeneration: 1, conditions: health }), []],
    ['a user changes it', resource(applied(1)), resource(applied(1), 2), ['managed-resources']],
  ])('%s', (_, before, after, expected) => {
    expect(woken('ManagedResource', before, after)).toEqual(expected);
  });

  it.each<[string, Parameters<typeof clusterFactory>[0], Parameters<typeof clusterFactory>[0], string[]]>([
    ['a Shoot is hibernated', {}, { spec: { hibernation: { enabled: true } } }, ['managed-resources']],
    [
      'a Shoot is deleted',
      {},
      { metadata: { name: 'bar', deletionTimestamp: '2026-01-02T03:04:05Z' } },
      ['managed-resources'],
    ],
    [
      'a Shoot changes its referenced resources',
      {},
      { spec: { resources: [{ name: 'a', resourceRef: { apiVersion: 'v1', kind: 'Secret', name: 'a' } }] } },
      ['managed-resources'],
    ],
    ['gardenlet reports progress', {}, { status: { lastOperation: lastOperationFactory({ progress: 50 }) } }, []],
  ])('%s', (_, before, after, expected) => {
    expect(woken('Cluster', clusterFactory(before), clusterFactory(after))).toEqual(expected);
  });

  const fluxConfig = (data: Record<string, string>, annotations: Record<string, string> = {}): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'garden-foo', name: 'flux-config', uid: 'u', annotations },
    data,
  });
  const rotation = { 'gardener.cloud/operation': 'rotate-ssh-keypair-start' };

  it.each<[string, KubeObject, KubeObject, string[]]>([
    ['a project changes its configuration', fluxConfig({}), fluxConfig({ syncMode: 'Once' }), ['fan-out', 'keys']],
    ['a project requests a key rotation', fluxConfig({}), fluxConfig({}, rotation), ['keys']],
    ['a project sets another annotation', fluxConfig({}), fluxConfig({}, { note: 'a' }), []],
  ])('%s', (_, before, after, expected) => {
    expect(woken('ConfigMap', before, after)).toEqual(expected);
  });

  it.each<[string, string, KubeObject, string[]]>([
    ['an Extension', 'Extension', extension({}), []],
    ['an operation of gardenlet', 'Extension', extension({ metadata: annotated('a') }), ['managed-resources']],
    ['the deletion of an Extension', 'Extension', extension({ metadata: deleting('a') }), ['managed-resources']],
    ['a Cluster', 'Cluster', clusterFactory(), []],
    [
      'the deletion of a Shoot',
      'Cluster',
      clusterFactory({ metadata: { name: 'bar', deletionTimestamp: '2026-01-02T03:04:05Z' } }),
      ['managed-resources'],
    ],
    ['an edit of a configuration', 'ConfigMap', fluxConfig({}), []],
    ['a key rotation', 'ConfigMap', fluxConfig({}, rotation), ['keys']],
  ])('%s is awaited as expected', (_, kind, object, expected) => {
    const awaiting = definitions.filter(({ subscriptions }) =>
      subscriptions.some(({ resource, isAwaited }) => resource.kind === kind && isAwaited?.(object) === true),
    );
    expect(awaiting.map(({ name }) => name)).toEqual(expected);
  });
});

it('resyncs every Extension hourly, and not all Extensions of a project at once', () => {
  const resynced = definitions.filter(({ resync }) => resync).map(({ name }) => name);
  expect(resynced).toEqual(expect.arrayContaining(['managed-resources', 'readiness']));
  expect(resynced).not.toContain('fan-out');
  // Two looks in an hour at a Shoot that is released.
  expect(resynced).not.toContain('sync-mode');
  expect(resynced).not.toContain('project-status');
});
