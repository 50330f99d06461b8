import { describe, expect, it } from 'vitest';
import type { Cause, ChangeRequest } from '../../shared/runtime/change-request.ts';
import type { Context } from '../../shared/runtime/context.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { noMetrics } from '../../shared/runtime/metrics.ts';
import { done } from '../../shared/runtime/outcome.ts';
import { handler, secondsUntilDue } from './handler.ts';

const now = new Date('2026-05-01T12:00:00.000Z');
const in20Minutes: Cause = { type: 'notBefore', notBefore: '2026-05-01T12:20:00.000Z', attempt: 3 };
const change = (cause: Cause): ChangeRequest => ({
  function: 'readiness',
  key: { cluster: 'local', namespace: 'shoot--dev--apple', name: 'shoot-flux' },
  cause,
});

function contextAt(moment: Date): { context: Context; sent: ChangeRequest[] } {
  const sent: ChangeRequest[] = [];
  const context: Context = {
    kube: () => Promise.reject(new Error('delay reads no cluster')),
    settings: {
      landscape: 'test',
      seeds: [],
      fluxDistribution: '',
      shootHealth: false,
      shootAccess: 'internal',
    },
    send: async (changes) => void sent.push(...changes),
    causes: [],
    now: () => moment,
    log: createLog('error', () => {}),
    metrics: noMetrics,
    signal: new AbortController().signal,
  };
  return { context, sent };
}

describe('delay', () => {
  it('sends a change back unchanged when it is due', async () => {
    const { context, sent } = contextAt(new Date('2026-05-01T12:20:00.000Z'));
    expect(await handler(change(in20Minutes), context)).toEqual(done);
    expect(sent).toEqual([change(in20Minutes)]);
  });

  it('delays a change again until it is due', async () => {
    const { context, sent } = contextAt(now);
    expect(await handler(change(in20Minutes), context)).toEqual({ type: 'requeue', afterSeconds: 1200 });
    expect(sent).toEqual([]);
  });

  it('does not delay changes without a time', () => {
    expect(secondsUntilDue({ type: 'redrive', nonce: 'n' }, now)).toBe(0);
    expect(secondsUntilDue({ type: 'notBefore', notBefore: '2026-05-01T11:00:00.000Z' }, now)).toBe(-3600);
  });
});
