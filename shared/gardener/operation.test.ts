import { describe, expect, it } from 'vitest';
import { isNewlyAsked, operationStatus } from './operation.ts';
import { extensionFactory, lastOperationFactory } from './testing.ts';

const now = new Date('2026-03-04T05:06:07.890Z');
const succeeded = { type: 'Reconcile', state: 'Succeeded', description: 'applied' } as const;

describe('operationStatus', () => {
  it('trap 1: always writes all five fields', () => {
    const status = operationStatus(extensionFactory(), { ...succeeded, state: 'Processing' }, now);
    expect(status?.lastOperation).toEqual({
      type: 'Reconcile',
      state: 'Processing',
      progress: 1,
      description: 'applied',
      lastUpdateTime: '2026-03-04T05:06:07Z',
    });
  });

  it('trap 3: clears the error of an earlier run with Processing', () => {
    const failed = extensionFactory({
      status: { lastError: { description: 'boom' }, lastOperation: lastOperationFactory() },
    });
    expect(operationStatus(failed, { ...succeeded, state: 'Processing' }, now)?.lastError).toBeNull();
  });

  it('trap 4: Processing leaves observedGeneration alone, Succeeded and Error report the generation that was read', () => {
    const extension = extensionFactory({ metadata: { generation: 3 } });
    expect(operationStatus(extension, { ...succeeded, state: 'Processing' }, now)).not.toHaveProperty(
      'observedGeneration',
    );
    expect(operationStatus(extension, succeeded, now)).toMatchObject({ observedGeneration: 3 });
    const error = { ...succeeded, state: 'Error', error: { description: 'boom' } } as const;
    expect(operationStatus(extension, error, now)).toMatchObject({
      observedGeneration: 3,
      lastError: { description: 'boom' },
    });
  });

  it("trap 5: lastUpdateTime is never before gardenlet's timestamp", () => {
    const annotations = { 'gardener.cloud/timestamp': '2026-03-04T05:06:09.123456789Z' };
    const status = operationStatus(extensionFactory({ metadata: { annotations } }), succeeded, now);
    expect(status?.lastOperation).toMatchObject({ lastUpdateTime: '2026-03-04T05:06:09Z' });
  });

  it('returns nothing when the status shows the report already, unless a newer timestamp asks for it', () => {
    const lastOperation = lastOperationFactory({ type: 'Reconcile' });
    const showing = (annotations: Record<string, string>) =>
      operationStatus(
        extensionFactory({ metadata: { annotations }, status: { lastOperation, observedGeneration: 1 } }),
        succeeded,
        now,
      );
    expect(showing({})).toBeUndefined();
    expect(showing({ 'gardener.cloud/timestamp': '2026-03-04T05:00:00Z' })).toBeDefined();
  });
});

describe('isNewlyAsked', () => {
  const asked = (operation: string | undefined, timestamp: string) =>
    isNewlyAsked(
      extensionFactory({
        metadata: {
          annotations: {
            ...(operation === undefined ? {} : { 'gardener.cloud/operation': operation }),
            'gardener.cloud/timestamp': timestamp,
          },
        },
        status: { lastOperation: lastOperationFactory({ lastUpdateTime: '2026-03-04T05:06:07Z' }) },
      }),
    );

  it('is true for reconcile, which is removed when it is accepted', () => {
    expect(asked('reconcile', '2026-03-04T05:06:00Z')).toBe(true);
    expect(asked(undefined, '2026-03-04T06:00:00Z')).toBe(false);
  });

  it('is true for restore until something is reported, because the annotation stays to the end (trap 2)', () => {
    expect(asked('restore', '2026-03-04T05:06:08Z')).toBe(true);
    expect(asked('restore', '2026-03-04T05:06:07.9Z')).toBe(false);
  });
});
