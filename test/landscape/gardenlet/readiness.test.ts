import { describe, expect, it } from 'vitest';
import type { Extension, ExtensionStatus, LastOperation } from '../gardener/types.ts';
import { notReady } from './readiness.ts';

const timestamp = '2026-01-02T03:04:05.678Z';

const lastOperationFactory = (parts: Partial<LastOperation> = {}): LastOperation => ({
  type: 'Create',
  state: 'Succeeded',
  progress: 100,
  description: 'applied',
  lastUpdateTime: '2026-01-02T03:04:05Z',
  ...parts,
});

const extension = (status: ExtensionStatus = {}, annotations: Record<string, string> = {}): Extension => ({
  apiVersion: 'extensions.gardener.cloud/v1alpha1',
  kind: 'Extension',
  metadata: {
    name: 'shoot-flux',
    namespace: 'shoot--foo--bar',
    generation: 2,
    annotations: { 'gardener.cloud/timestamp': timestamp, ...annotations },
  },
  spec: { type: 'shoot-flux' },
  status: { observedGeneration: 2, lastOperation: lastOperationFactory(), ...status },
});

describe('an Extension is ready', () => {
  it('when all seven rules hold; the time counts in seconds', () => {
    expect(notReady(extension(), timestamp)).toBeUndefined();
  });

  it.each([
    ['another timestamp', extension({}, { 'gardener.cloud/timestamp': 'old' }), /timestamp/],
    ['a last error', extension({ lastError: { description: 'no' } }), /error.*no/],
    ['an old generation', extension({ observedGeneration: 1 }), /outdated \(1\/2\)/],
    [
      'an operation annotation of any value',
      extension({}, { 'gardener.cloud/operation': 'wait-for-state' }),
      /picked up/,
    ],
    ['another state', extension({ lastOperation: lastOperationFactory({ state: 'Processing' }) }), /Processing/],
    [
      'a last update before the run',
      extension({ lastOperation: lastOperationFactory({ lastUpdateTime: '2026-01-02T03:04:04Z' }) }),
      /before/,
    ],
  ])('but not with %s', (_, object, reason) => {
    expect(notReady(object, timestamp)?.reason).toMatch(reason);
  });

  it('and otherwise the first rule that fails is reported', () => {
    const object = extension({ observedGeneration: 1, lastError: { description: 'no' } });
    expect(notReady(object, timestamp)?.error).toBe('no');
  });
});
