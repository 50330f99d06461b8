import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { shapedObject } from '../../shared/shapes.ts';
import { assess } from './assess.ts';
import { essentials } from './seen.ts';
import { applied, deployments, kustomization, source } from './shoot.testing.ts';

const previous = { conditions: [], now: new Date('2026-03-04T05:06:07Z') };

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

describe('what the owner of a shoot writes into a status', () => {
  const odd = (live: KubeObject, parts: object) =>
    essentials(shapedObject({ ...live, metadata: { ...live.metadata, labels: {} }, ...parts }));
  const verdictOn = (parts: object, type: string) => {
    const observed = {
      deployments: deployments.map((one) => odd(one, parts)),
      source: odd(source, parts),
      kustomization,
    };
    return assess(applied, observed, previous).verdicts.find((verdict) => verdict.type === type);
  };
  const status = (ready: object, parts: object = {}) => ({
    status: { observedGeneration: 1, conditions: [null, 'Ready', { type: 'Ready', ...ready }], ...parts },
  });

  it.each<[string, object, string, object]>([
    [
      'no condition',
      { status: { observedGeneration: 1, conditions: 'Ready' } },
      'SourceReady',
      { reason: 'Progressing' },
    ],
    ['a flag as status', status({ status: true }), 'SourceReady', { reason: 'Progressing' }],
    [
      'what it needs, beside a revision and a suspension of other types',
      { spec: { suspend: 'true' }, ...status({ status: 'True' }, { lastAppliedRevision: {}, artifact: ['x'] }) },
      'SourceReady',
      { status: 'True', message: 'GitRepository flux-system/repo is Ready. (config c0ffee)' },
    ],
    [
      'a failure beside an odd spec',
      {
        spec: { url: ['ssh://x'], ref: null, secretRef: 'x', postBuild: { substituteFrom: [null, { kind: 7 }] } },
        ...status({ status: 'False', message: 'ssh: handshake failed: knownhosts: key mismatch' }),
      },
      'SourceReady',
      { status: 'False', reason: 'HostKeyMismatch' },
    ],
    [
      'counts that are no numbers',
      status({}, { replicas: '1', updatedReplicas: true, availableReplicas: {} }),
      'FluxReady',
      { status: 'False', reason: 'ControllersNotAvailable' },
    ],
  ])('is read as far as it is one: %s', (_, parts, type, expected) => {
    expect(verdictOn(parts, type)).toMatchObject(expected);
  });

  it('names releases in a short line, whatever the labels of Deployments are', () => {
    const release = `\u001b[31mghp_0123456789abcdefghijklmnopqrstuvwxyz ${'x'.repeat(100_000)}`;
    const versions = [release, ...Array.from({ length: 5000 }, (_, index) => `v${index}`)];
    const hostile = versions.flatMap((version) =>
      deployments.map((one) =>
        odd(one, { metadata: { ...one.metadata, labels: { 'app.kubernetes.io/version': version } } }),
      ),
    );
    const [{ message } = { message: '' }] = assess(applied, { deployments: hostile, source }, previous).verdicts;
    expect(message).toMatch(/^Flux .+ is running\. \(config c0ffee\)$/);
    expect(message.length).toBeLessThan(1000);
    expect(message).not.toMatch(/ghp_0|\p{Cc}/u);
  });

  it('never makes an assessment fail', () => {
    const value = fc.oneof(fc.anything(), fc.constantFrom('True', 'False', 'Unknown', 'Ready', 'Stalled'));
    const dictionary = (...names: string[]) => fc.dictionary(fc.constantFrom(...names), value);
    const conditions = fc.oneof(
      value,
      fc.array(dictionary('type', 'status', 'reason', 'message', 'lastTransitionTime')),
    );
    const ofStatus = { observedGeneration: value, lastAppliedRevision: value, artifact: value, replicas: value };
    const spec = dictionary('url', 'ref', 'secretRef', 'suspend', 'postBuild', 'decryption', 'replicas', 'path');
    const parts = fc.record({
      spec: fc.oneof(spec, value),
      status: fc.oneof(fc.record({ conditions, ...ofStatus }), value),
    });
    fc.assert(
      fc.property(parts, parts, parts, (first, second, third) => {
        const observed = {
          deployments: deployments.map((deployment) => odd(deployment, first)),
          source: odd(source, second),
          kustomization: odd(kustomization, third),
        };
        for (const { message, status: verdict } of assess(applied, observed, previous).verdicts) {
          expect(message.length).toBeLessThan(2500);
          expect(['True', 'False', 'Unknown']).toContain(verdict);
        }
      }),
      { seed: 9, numRuns: 500 },
    );
  });
});
