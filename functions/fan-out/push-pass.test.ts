import { describe, expect, it } from 'vitest';
import type { Cause } from '../../shared/runtime/change-request.ts';
import { pushPass } from './handler.ts';

const key = { cluster: 'garden', namespace: 'garden-foo', name: 'flux-push' };
const now = new Date('2026-01-02T03:04:05.000Z');
const at = (seconds: number) => now.getTime() + seconds * 1000;
const iso = (seconds: number) => new Date(at(seconds)).toISOString();
const passOf = (due: number, causes: Cause[] = []) =>
  pushPass(key, { at: at(due), repositories: ['a', 'b'] }, causes, now);
const next: Cause = { type: 'continue', after: 'bar', hop: 1, state: 'x' };

describe('a pass of pushes', () => {
  it('begins when it is due, with the same cause in every attempt', () => {
    expect(passOf(-1)).toEqual(passOf(-1, [{ type: 'notBefore', notBefore: iso(0) }]));
    expect(passOf(-1)).toMatchObject({
      cause: { kind: 'Secret', name: 'flux-push', resourceVersion: iso(-1), also: 'a,b' },
      outcome: { type: 'done' },
    });
    expect(passOf(2)).toEqual({ outcome: { type: 'requeue', afterSeconds: 2 } });
    expect(pushPass(key, undefined, [next], now)).toEqual({ outcome: { type: 'done' } });
  });

  it('is not put off by the next request, which follows', () => {
    const outcome = { type: 'requeue', afterSeconds: 4 };
    const late: Cause = { type: 'notBefore', notBefore: iso(-1) };
    expect(passOf(4, [late])).toMatchObject({ cause: { resourceVersion: iso(-1) }, outcome });
    expect(passOf(4, [next])).toMatchObject({ cause: { resourceVersion: iso(0) }, outcome });
    expect(passOf(4, [{ type: 'notBefore', notBefore: iso(1) }])).toEqual({ outcome });
  });
});
