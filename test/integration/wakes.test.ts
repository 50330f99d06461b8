import fc from 'fast-check';
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
import type { Extension, ExtensionStatus, ManagedResource } from '../../shared/gardener/types.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { foreignObject } from '../../shared/shapes.ts';

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

type Parts = Parameters<typeof extensionFactory>[0];
const at = '2026-01-02T03:04:05Z';
const later = '2026-01-02T03:09:06Z';
const source = {
  apiVersion: 'source.toolkit.fluxcd.io/v1',
  kind: 'GitRepository',
  namespace: 'flux-system',
  name: 'a',
};
const succeeded = { lastOperation: lastOperationFactory() };
const processing = { lastOperation: lastOperationFactory({ state: 'Processing' }) };
const hibernated = { lastOperation: lastOperationFactory({ description: HIBERNATED }) };
const withSource = { state: { applied: appliedFactory({ source }) } };
const onlyFlux = { state: { applied: appliedFactory() } };
const bootstrapped = { ...onlyFlux.state, bootstrapped: { at, fluxVersion: 'v2.9.4', configHash: 'a' } };
const conditions = [conditionFactory({ type: 'FluxReady', message: 'Flux is running. (config c0ffee)' })];
const flux = { configHash: withSource.state.applied.configHash, ready: true };
const annotated = (timestamp: string) => ({
  annotations: { 'gardener.cloud/operation': 'reconcile', 'gardener.cloud/timestamp': timestamp },
});
const deleting = (timestamp: string) => ({
  deletionTimestamp: at,
  annotations: { 'gardener.cloud/timestamp': timestamp },
});
const all = ['project-status', 'readiness', 'sync-mode'];

describe('a write wakes only the functions that read the written fields', () => {
  it.each<[string, Parts, Parts, string[]]>([
    ['gardenlet sets the operation annotation', {}, { metadata: annotated(at) }, ['managed-resources']],
    [
      'gardenlet sets the operation annotation again',
      { metadata: annotated(at) },
      { metadata: annotated(later) },
      ['managed-resources'],
    ],
    ['gardenlet repeats a deletion', { metadata: deleting(at) }, { metadata: deleting(later) }, ['managed-resources']],
    ['managed-resources removes the annotation', { metadata: annotated(at) }, {}, []],
    ['managed-resources reports Processing', {}, { status: processing }, ['project-status']],
  ])('%s', (_, before, after, expected) => {
    expect(woken('Extension', extensionFactory(before), extensionFactory(after))).toEqual(expected);
  });

  it.each<[string, ExtensionStatus, ExtensionStatus, string[]]>([
    ['managed-resources records what it applies', processing, { ...processing, ...withSource }, []],
    [
      'managed-resources reports Succeeded',
      { ...processing, ...withSource },
      { ...succeeded, ...withSource },
      ['readiness'],
    ],
    [
      'managed-resources reports that the Shoot is hibernated, or awake again',
      { ...succeeded, ...withSource },
      { ...hibernated, ...withSource },
      ['project-status', 'readiness'],
    ],
    [
      'managed-resources reports Succeeded for Flux without a source',
      { ...processing, ...onlyFlux },
      { ...succeeded, ...onlyFlux },
      ['readiness', 'sync-mode'],
    ],
    ['sync-mode records the first success', onlyFlux, { state: bootstrapped }, ['managed-resources']],
    [
      'readiness finds everything Ready, and has published it',
      { ...processing, ...onlyFlux },
      { ...succeeded, ...onlyFlux, conditions },
      all,
    ],
    [
      'a Ready Shoot is reconciled',
      { ...succeeded, state: bootstrapped, conditions },
      { ...processing, state: bootstrapped, conditions },
      [],
    ],
    ['readiness writes a condition', {}, { conditions: [conditionFactory({ type: 'FluxReady' })] }, []],
    [
      'readiness finds everything Ready',
      { ...succeeded, ...withSource },
      { ...succeeded, ...withSource, providerStatus: { flux } },
      ['sync-mode'],
    ],
  ])('%s', (_, before, after, expected) => {
    const [one, other] = [before, after].map((status) => extensionFactory({ status }));
    expect(woken('Extension', one, other as Extension)).toEqual(expected);
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
    ['a Shoot is deleted', {}, { metadata: { name: 'bar', deletionTimestamp: at } }, ['managed-resources']],
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
    ['an Extension', 'Extension', extensionFactory(), []],
    ['an operation of gardenlet', 'Extension', extensionFactory({ metadata: annotated('a') }), ['managed-resources']],
    ['the deletion of an Extension', 'Extension', extensionFactory({ metadata: deleting('a') }), ['managed-resources']],
    ['a Cluster', 'Cluster', clusterFactory(), []],
    [
      'the deletion of a Shoot',
      'Cluster',
      clusterFactory({ metadata: { name: 'bar', deletionTimestamp: at } }),
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

it('subscriptions never throw in the watcher, whatever an object of a seed holds', () => {
  const ofSeed = definitions.filter(({ name }) => ['managed-resources', ...all].includes(name));
  expect(ofSeed).toHaveLength(4);
  const spec = fc.oneof(
    fc.anything(),
    fc.record({ shoot: fc.anything() }),
    fc.record({ type: fc.constant('shoot-flux') }),
  );
  fc.assert(
    fc.property(spec, fc.anything(), (value, status) => {
      const metadata = { namespace: 'shoot--foo--bar', name: 'shoot-flux' };
      for (const { resource, matches, isNews, wakes, isAwaited, keys } of ofSeed.flatMap(
        (each) => each.subscriptions,
      )) {
        const object = foreignObject(resource, { metadata, spec: value, status }) as KubeObject;
        for (const read of [matches, isNews, wakes, isAwaited]) read?.(object);
        expect(keys(object, 'seed')[0]?.name).toBe('shoot-flux');
      }
    }),
    { seed: 9, numRuns: 300 },
  );
});
