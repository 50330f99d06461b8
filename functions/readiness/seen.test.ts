import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { shapedObject } from '../../shared/shapes.ts';
import { assess } from './assess.ts';
import { essentials } from './seen.ts';
import { applied, deployments, kustomization, source } from './shoot.testing.ts';

const text = 'x'.repeat(2_000_000);
const nested = JSON.parse(`${'['.repeat(70_000)}${']'.repeat(70_000)}`);
const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, key) => [`key-${key}`, 'value']));
const condition = { type: 'Ready', status: 'False', reason: 'Failed', message: text };

describe('the essentials of an object', () => {
  it.each([
    ['a text in the spec', { spec: { suspend: false, path: text } }],
    ['a spec that is nested without end', { spec: { suspend: false, path: nested } }],
    ['a spec with many fields', { spec: { suspend: false, ...many } }],
    ['an inventory', { spec: { suspend: false }, status: { inventory: { entries: [text, many] } } }],
    ['a message', { spec: { suspend: false }, status: { conditions: [condition] } }],
    ['many conditions', { spec: { suspend: false }, status: { conditions: Array(30_000).fill(condition) } }],
    ['a revision', { spec: { suspend: false }, status: { lastAppliedRevision: text, artifact: { revision: text } } }],
    ['many fields in the status', { spec: { suspend: false }, status: many }],
    ['many labels', { spec: { suspend: false }, metadata: { name: 'a', labels: many } }],
    ['many annotations', { spec: { suspend: false }, metadata: { name: 'a', annotations: many } }],
  ])('are few, with %s', (_, parts) => {
    const object = shapedObject({ apiVersion: 'v1', kind: 'Any', metadata: { name: 'a' }, ...parts } as KubeObject);
    const kept = essentials(object);
    expect(kept.spec).toMatchObject({ suspend: false });
    expect(JSON.stringify(kept).length).toBeLessThan(1_000_000);
  });

  it('are all that an assessment reads', () => {
    const status = fc.record({
      observedGeneration: fc.constantFrom(1, 2),
      lastAppliedRevision: fc.constantFrom('main@sha1:abc', undefined),
      artifact: fc.constantFrom({ revision: 'main@sha1:def' }, undefined),
      conditions: fc.array(
        fc.record({
          type: fc.constantFrom('Ready', 'Stalled', 'Reconciling', 'Progressing', 'ReplicaFailure'),
          status: fc.constantFrom('True', 'False', 'Unknown'),
          reason: fc.constantFrom('ProgressDeadlineExceeded', 'Failed'),
          message: fc.constantFrom('authentication required', 'exceeded quota: pods', 'is new'),
          lastTransitionTime: fc.constantFrom('2026-03-04T05:06:00Z', ''),
        }),
      ),
    });
    const spec = fc.record({
      suspend: fc.boolean(),
      replicas: fc.constantFrom(0, 1),
      url: fc.constantFrom('ssh://git@git.example.org/fleet', 'https://git.example.org/fleet'),
      secretRef: fc.constantFrom({ name: 'flux-source' }, undefined),
    });
    const parts = fc.record({ spec, status });
    const previous = { conditions: [], now: new Date('2026-03-04T05:06:07Z') };
    fc.assert(
      fc.property(parts, parts, parts, (first, second, third) => {
        const seen = (change: (object: KubeObject) => KubeObject) =>
          assess(
            applied,
            {
              deployments: deployments.map((one) => change(shapedObject({ ...one, ...first } as KubeObject))),
              source: change(shapedObject({ ...source, ...second } as KubeObject)),
              kustomization: change(shapedObject({ ...kustomization, ...third } as KubeObject)),
            },
            previous,
          );
        expect(seen(essentials)).toEqual(seen((object) => object));
      }),
      { seed: 9, numRuns: 300 },
    );
  });
});
