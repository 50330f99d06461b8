import { describe, expect, it } from 'vitest';
import { heartbeatOf } from './health-options.ts';

const seeds = ['a', 'b'];

describe('heartbeatOf', () => {
  it('has a namespace for each seed', () => {
    const namespace = ['a=extension-shoot-flux-x2k4d', 'b=extension-shoot-flux-7fk2p'];
    expect(heartbeatOf({ 'shoot-health': true, namespace }, seeds)).toEqual({
      a: 'extension-shoot-flux-x2k4d',
      b: 'extension-shoot-flux-7fk2p',
    });
    expect(heartbeatOf({}, seeds)).toEqual({});
  });

  it.each([
    [{ namespace: ['a=x'] }, '--namespace is of no use without --shoot-health'],
    [{ 'shoot-health': true }, '--shoot-health needs --namespace a=NAMESPACE'],
    [{ 'shoot-health': true, namespace: ['a=x'] }, '--shoot-health needs --namespace b=NAMESPACE'],
    [{ 'shoot-health': true, namespace: ['x'] }, '--namespace x is not of the form SEED=NAMESPACE'],
    [{ 'shoot-health': true, namespace: ['c=x'] }, '--namespace c=x names none of the seeds'],
  ])('%j is wrong usage', (values, message) => {
    expect(() => heartbeatOf(values, seeds)).toThrow(message);
  });
});
