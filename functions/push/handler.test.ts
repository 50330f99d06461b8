import { describe, expect, it } from 'vitest';
import type { Cause } from '../../shared/runtime/change-request.ts';
import { pushIn } from './handler.ts';

const now = new Date('2026-01-02T03:04:05.000Z');
const pushed = (resourceVersion: string, also?: string): Cause => ({
  ...{ type: 'object', cluster: 'garden', kind: 'Secret', namespace: 'garden-foo', name: 'flux-push', uid: 'pushed' },
  ...{ resourceVersion, also },
});

describe('pushIn', () => {
  it('adds up pushes, and names the newest', () => {
    expect(pushIn([pushed('2', 'a,b'), pushed('1', 'c')], now)).toEqual({
      repositories: new Set(['a', 'b', 'c']),
      value: '2',
    });
  });

  it('asks for everything where a cause does not say what was pushed', () => {
    const retry: Cause = { type: 'notBefore', notBefore: now.toISOString() };
    expect(pushIn([pushed('1', 'a'), pushed('2', '*')], now)).toEqual({ repositories: undefined, value: '2' });
    expect(pushIn([pushed('1', 'a'), retry], now)).toEqual({ repositories: undefined, value: '1' });
    expect(pushIn([retry], now)).toEqual({ repositories: undefined, value: now.toISOString() });
  });
});
