import { describe, expect, it } from 'vitest';
import { heartbeatOf } from './health-options.ts';

const seeds = ['a', 'b'];

describe('heartbeatOf', () => {
  it('returns a namespace for each seed', () => {
    const namespace = ['a=extension-shoot-flux-x2k4d', 'b=extension-shoot-flux-7fk2p'];
    expect(heartbeatOf({ 'shoot-health': true, namespace }, seeds)).toEqual({
      a: 'extension-shoot-flux-x2k4d',
      b: 'extension-shoot-flux-7fk2p',
    });
    expect(heartbeatOf({}, seeds)).toEqual({});
  });

  it.each([
    [{ namespace: ['a=x'] }, '--namespace requires --shoot-health'],
    [{ 'shoot-health': true }, '--shoot-health requires --namespace a=NAMESPACE'],
    [{ 'shoot-health': true, namespace: ['a=x'] }, '--shoot-health requires --namespace b=NAMESPACE'],
    [{ 'shoot-health': true, namespace: ['x'] }, '--namespace x is not of the form SEED=NAMESPACE'],
    [{ 'shoot-health': true, namespace: ['c=x'] }, '--namespace c=x does not name a seed of --seed'],
  ])('rejects %j as wrong usage', (values, message) => {
    expect(() => heartbeatOf(values, seeds)).toThrow(message);
  });
});
