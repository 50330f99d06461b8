import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { shapedObject } from '../../shared/shapes.ts';
import { type Assessment, assess } from './assess.ts';
import { essentials } from './seen.ts';
import { applied, deployments, kustomization, live, object, source } from './shoot.testing.ts';

const previous = { conditions: [], now: new Date('2026-03-04T05:06:07Z') };
const odd = (live: KubeObject, parts: object) =>
  essentials(
    shapedObject({ ...live, ...parts, metadata: { ...live.metadata, ...(parts as Partial<KubeObject>).metadata } }),
  );
const condition = { type: 'Ready', status: 'True', reason: 'Succeeded', message: 'x' };
const ofType = ({ verdicts }: Assessment, type: string) => verdicts.find((verdict) => verdict.type === type);

/** A source whose status its owner has written. */
const sourceWith = (parts: object) =>
  ofType(assess(applied, { deployments, kustomization, source: odd(source, parts) }, previous), 'SourceReady');

describe('what the owner of a shoot writes into a status', () => {
  it.each([
    ['a text instead of conditions', { status: { observedGeneration: 1, conditions: 'Ready' } }],
    ['null and texts among the conditions', { status: { observedGeneration: 1, conditions: [null, 'Ready', 7] } }],
    [
      'a condition whose status is a flag',
      { status: { observedGeneration: 1, conditions: [{ ...condition, status: true }] } },
    ],
  ])('is not Ready, in a sentence: %s', (_, parts) => {
    expect(sourceWith(parts)).toMatchObject({
      ...{ status: 'False', reason: 'Progressing' },
      message: 'GitRepository flux-system/repo: has not been reconciled yet (config c0ffee)',
    });
  });

  it('is Ready beside a revision that is not a text, and active beside a suspension that is not a flag', () => {
    const parts = {
      spec: { suspend: 'true' },
      status: { observedGeneration: 1, conditions: [condition], lastAppliedRevision: {}, artifact: ['x'] },
    };
    expect(sourceWith(parts)).toMatchObject({
      status: 'True',
      message: 'GitRepository flux-system/repo is Ready. (config c0ffee)',
    });
  });

  it('keeps the sentence about a failure whose object has an odd spec', () => {
    const failed = {
      type: 'Ready',
      status: 'False',
      reason: 'x',
      message: 'ssh: handshake failed: knownhosts: key mismatch',
    };
    for (const spec of [
      { url: 7, ref: null, secretRef: null, decryption: null },
      { url: ['ssh://x'], ref: ['main'], secretRef: 'flux-source' },
      { postBuild: { substituteFrom: { kind: 'Secret' } } },
      { postBuild: { substituteFrom: [null, 'Secret', { kind: 7 }] } },
    ]) {
      const verdict = sourceWith({ spec, status: { observedGeneration: 1, conditions: [failed] } });
      expect(verdict).toMatchObject({ status: 'False', reason: 'HostKeyMismatch' });
    }
  });

  it('is not available where counts of a Deployment are not numbers', () => {
    const status = {
      observedGeneration: 1,
      replicas: '1',
      updatedReplicas: true,
      availableReplicas: {},
      conditions: [null],
    };
    const hostile = deployments.map((deployment) => odd(deployment, { status }));
    const verdict = ofType(assess(applied, { deployments: hostile, source, kustomization }, previous), 'FluxReady');
    expect(verdict).toMatchObject({ status: 'False', reason: 'ControllersNotAvailable' });
  });

  it('names releases in a short line, whatever the labels of Deployments are', () => {
    const release = `\u001b[31mghp_0123456789abcdefghijklmnopqrstuvwxyz ${'x'.repeat(100_000)}`;
    const labelled = (version: string) =>
      deployments.map((deployment) =>
        odd(deployment, { metadata: { labels: { 'app.kubernetes.io/version': version } } }),
      );
    const hostile = [...labelled(release), ...Array.from({ length: 5000 }, (_, index) => labelled(`v${index}`)).flat()];
    const verdict = ofType(assess(applied, { deployments: hostile, source, kustomization }, previous), 'FluxReady');
    expect(verdict).toMatchObject({
      status: 'True',
      message: expect.stringMatching(/^Flux .+ is running\. \(config c0ffee\)$/),
    });
    expect(verdict?.message.length).toBeLessThan(1000);
    expect(verdict?.message).not.toMatch(/ghp_0|\p{Cc}/u);
  });

  it('never makes an assessment fail', () => {
    const value = fc.oneof(
      fc.anything(),
      fc.constantFrom('True', 'False', 'Unknown', 'Ready', 'Stalled', 'Reconciling'),
    );
    const conditions = fc.oneof(
      value,
      fc.array(fc.dictionary(fc.constantFrom('type', 'status', 'reason', 'message', 'lastTransitionTime'), value)),
    );
    const status = fc.record({
      conditions,
      observedGeneration: value,
      lastAppliedRevision: value,
      artifact: value,
      replicas: value,
    });
    const spec = fc.dictionary(
      fc.constantFrom('url', 'ref', 'secretRef', 'suspend', 'postBuild', 'decryption', 'replicas', 'path'),
      value,
    );
    const parts = fc.oneof(fc.record({ spec, status }), fc.record({ spec: value, status: value }));
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

describe('messages that take long to quote', () => {
  const objects = (count: number) => {
    const others = Array.from({ length: count }, (_, index) => ({
      ...object('GitRepository', `repo-${index}`),
      place: { object: 'providerConfig', path: `objects[${index}]` },
    }));
    const message = `https://${'}"x://a:'.repeat(620)}-token`;
    const all = { deployments, source, kustomization };
    return () =>
      assess({ ...applied, others }, { ...all, others: others.map((one) => live(one, 'False', message)) }, previous);
  };

  it('are quoted only of the objects that the condition names', () => {
    expect(ofType(objects(99)(), 'ObjectsReady')?.message).toContain('96 more objects are not Ready.');
  });
});
