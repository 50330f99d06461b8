import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type KubeObject, resources } from '../kube/resource.ts';
import { foreignObject } from '../shapes.ts';
import { allApplied, applyState, isOurManagedResource } from './managed-resource.ts';
import { isAnswered, isNewlyAsked, operationStatus } from './operation.ts';
import { clusterOf, extensionOf, managedResourceOf } from './read-objects.ts';
import { shootFacts } from './shoot-facts.ts';
import { stateOf } from './state.ts';
import {
  appliedFactory,
  clusterFactory,
  extensionFactory,
  lastOperationFactory,
  managedResourceFactory,
} from './testing.ts';

const options = { seed: 9, numRuns: 400 };
const appliedOf = (value: unknown) => stateOf({ applied: value })?.applied;

/** An object with any value in these fields. */
const odd = (...fields: string[]) => fc.dictionary(fc.constantFrom(...fields), fc.anything());
/** As it comes from the Kubernetes client. */
const withMeta = (parts: object) =>
  foreignObject(resources.extensions, { metadata: { name: 'a', namespace: 'b' }, ...parts }) as KubeObject;

describe('objects of a seed', () => {
  it('are returned as they are when they are well-formed', () => {
    const applied = appliedFactory({ managedResources: { a: 'b' }, objects: { a: ['c'] }, leaving: ['d'] });
    const extension = extensionFactory({ status: { lastOperation: lastOperationFactory(), state: { applied } } });
    expect(extensionOf(extension)).toEqual(extension);
    const resource = managedResourceFactory('shoot-flux-sync', 'x');
    expect(managedResourceOf(resource)).toEqual(resource);
    const cluster = clusterFactory({ spec: { region: 'r', resources: [] }, status: { technicalID: 't' } });
    expect(clusterOf(cluster)).toEqual(cluster);
  });

  it('a record that is none counts as lost, and odd optional parts of one as absent', () => {
    const applied = appliedFactory();
    const broken = [{ objects: null }, { objects: { a: 'b' } }, { components: 'a' }];
    for (const value of [null, 'text', {}, ...broken.map((parts) => ({ ...applied, ...parts }))])
      expect(appliedOf(value)).toBeUndefined();
    const parts = { leaving: [null, 'a'], source: 'x', problem: {} };
    expect(appliedOf({ ...applied, ...parts })).toEqual(applied);
  });

  it('a first success counts whatever it says, or everything in the shoot would be written again', () => {
    for (const bootstrapped of [{}, { at: 1 }, { at: '2026-01-01T00:00:00Z', configHash: null }]) {
      const { status } = extensionOf(withMeta({ status: { state: { bootstrapped } } }));
      expect(status?.state?.bootstrapped).toEqual(bootstrapped);
    }
    expect(extensionOf(withMeta({ status: { state: { bootstrapped: 'x' } } })).status?.state).toEqual({});
  });

  it('a record with an unknown sync mode is not lost', () => {
    const applied = appliedFactory({ objects: { a: ['b'] } });
    expect(appliedOf({ ...applied, syncMode: 'Other' })).toEqual({ ...applied, syncMode: 'ManifestsOnly' });
  });

  it('a Cluster without a Shoot is none', () => {
    for (const shoot of [undefined, null, {}, { metadata: { name: 1 } }])
      expect(clusterOf(withMeta({ spec: { shoot } }))).toBeUndefined();
    expect(clusterOf(withMeta({ spec: 'text' }))).toBeUndefined();
  });

  it('never make the functions that read an Extension throw', () => {
    const status = odd('lastOperation', 'lastError', 'conditions', 'providerStatus', 'state', 'resources');
    const state = odd('applied', 'bootstrapped', 'failingSince');
    fc.assert(
      fc.property(fc.anything(), status, state, fc.boolean(), (spec, shown, recorded, hasState) => {
        const extension = extensionOf(withMeta({ spec, status: hasState ? { ...shown, state: recorded } : shown }));
        isAnswered(extension);
        isNewlyAsked(extension);
        operationStatus(extension, { type: 'Create', state: 'Error', description: 'a' }, new Date(0));
        expect(Array.isArray(extension.status?.conditions ?? [])).toBe(true);
      }),
      options,
    );
  });

  it('never make the functions that read a ManagedResource throw', () => {
    const applied = appliedFactory({ managedResources: { a: 'b' } });
    const [spec, status] = [odd('secretRefs', 'keepObjects', 'class'), odd('conditions', 'observedGeneration')];
    fc.assert(
      fc.property(spec, status, (wanted, shown) => {
        const resource = managedResourceOf(withMeta({ spec: wanted, status: shown }));
        applyState(resource);
        isOurManagedResource(resource);
        allApplied(applied, [resource]);
      }),
      options,
    );
  });

  it('never make the facts about a Shoot anything but texts', () => {
    const places = ['region', 'kubernetes', 'provider', 'networking', 'dns', 'maintenance', 'resources', 'extensions'];
    const spec = odd(...places);
    fc.assert(
      fc.property(spec, odd('technicalID', 'clusterIdentity', 'uid', 'lastOperation'), (shootSpec, status) => {
        const shoot = { metadata: { name: 'a', namespace: 'garden-b' }, spec: shootSpec, status };
        const cluster = clusterOf(withMeta({ spec: { shoot } }));
        const { info, facts } = shootFacts(cluster ?? clusterFactory(), {});
        for (const fact of [...Object.values(info), ...Object.values(facts)]) expect(typeof fact).toBe('string');
      }),
      options,
    );
  });
});
