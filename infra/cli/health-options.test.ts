import { describe, expect, it } from 'vitest';
import { heartbeatOf } from './health-options.ts';

const seeds = ['a', 'b'];
const elsewhere = { seeds, files: { garden: '/garden', a: '/a', b: '/b' } };

describe('heartbeatOf', () => {
  it('returns a namespace for each seed', async () => {
    const namespace = ['a=extension-shoot-flux-x2k4d', 'b=extension-shoot-flux-7fk2p'];
    expect(await heartbeatOf({ 'shoot-health': true, namespace }, elsewhere)).toEqual({
      a: 'extension-shoot-flux-x2k4d',
      b: 'extension-shoot-flux-7fk2p',
    });
    expect(await heartbeatOf({}, elsewhere)).toEqual({});
  });

  it('is the own namespace in the cluster that the process runs in, unless an option names it', async () => {
    const here = { seeds: ['a'], files: { garden: '/garden', a: 'in-cluster' } };
    const own = async () => 'extension-shoot-flux-own';
    expect(await heartbeatOf({ 'shoot-health': true }, here, own)).toEqual({ a: 'extension-shoot-flux-own' });
    expect(await heartbeatOf({ 'shoot-health': true, namespace: ['a=x'] }, here, own)).toEqual({ a: 'x' });
    expect(await heartbeatOf({}, here, own)).toEqual({});
  });

  it.each([
    [{ namespace: ['a=x'] }, '--namespace requires --shoot-health'],
    [{ 'shoot-health': true }, '--shoot-health requires --namespace a=NAMESPACE'],
    [{ 'shoot-health': true, namespace: ['a=x'] }, '--shoot-health requires --namespace b=NAMESPACE'],
    [{ 'shoot-health': true, namespace: ['x'] }, '--namespace x is not of the form SEED=NAMESPACE'],
    [{ 'shoot-health': true, namespace: ['c=x'] }, '--namespace c=x does not name a seed of --seed'],
  ])('rejects %j as wrong usage', async (values, message) => {
    await expect(heartbeatOf(values, elsewhere)).rejects.toThrow(message);
  });
});
