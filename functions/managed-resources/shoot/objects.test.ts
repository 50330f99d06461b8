import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { shapedObject } from '../../../shared/shapes.ts';
import { hasFluxFinalizer, isAtWork } from '../uninstall/uninstall.ts';
import {
  carriesOurMark,
  isSuspended,
  objectRef,
  servedKind,
  steeringKeysPatch,
  withoutSteeringKeys,
} from './objects.ts';

const object = (parts: Record<string, unknown>) =>
  shapedObject({
    apiVersion: 'v1',
    kind: 'Any',
    ...parts,
    metadata: { name: 'a', ...(parts.metadata as object) },
  } as KubeObject);
const crd = (spec: unknown) => object({ kind: 'CustomResourceDefinition', spec });
const versions = [{ name: 'v1', served: true, storage: true }];
const names = { plural: 'things', kind: 'Thing' };
const served = { group: 'example.com', names, versions };

describe('objects that the owner of a shoot has written', () => {
  it.each([
    ['no versions', { ...served, versions: null }],
    ['versions that are not objects', { ...served, versions: ['v1', null] }],
    ['a version that is served as a text', { ...served, versions: [{ name: 'v1', served: 'true' }] }],
    ['no names', { ...served, names: ['things'] }],
    ['a plural that leads to another path', { ...served, names: { ...names, plural: '../../secrets' } }],
    ['a group with a query', { ...served, group: 'example.com?limit=1' }],
    ['no spec', undefined],
  ])('a CRD with %s serves no kind', (_, spec) => {
    expect(servedKind(crd(spec))).toBeUndefined();
  });

  it('a CRD that is one serves its stored version', () => {
    const spec = { ...served, scope: 'Namespaced', versions: [{ name: 'v1beta1', served: true }, ...versions] };
    expect(servedKind(crd(spec))).toEqual({ group: 'example.com', version: 'v1', ...names, namespaced: true });
  });

  it('a suspension that is a text is none, so the object is suspended again', () => {
    for (const suspend of ['true', 1, {}, [true]]) expect(isSuspended(object({ spec: { suspend } }))).toBe(false);
    for (const spec of [null, 'suspend', [true]]) expect(isSuspended(object({ spec }))).toBe(false);
  });

  it('never make the functions that read them throw', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (spec, status) => {
        const live = object({ spec, status });
        servedKind(live);
        hasFluxFinalizer(live);
        isSuspended(live);
        carriesOurMark(live);
        isAtWork(live.metadata, new Date(0));
        steeringKeysPatch(live);
        expect(objectRef(withoutSteeringKeys(live))).toBe('Any//a');
      }),
      { seed: 9, numRuns: 500 },
    );
  });
});
