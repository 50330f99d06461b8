import { describe, expect, it, test } from 'vitest';
import { clustersOf, heartbeatOf } from './clusters.ts';
import { files, kubeconfigOf } from './testing.ts';

const good = kubeconfigOf();
const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'false', interactiveMode: 'Never' };

test('a seed whose plugin fails does not keep the process from serving the others', async () => {
  await using input = await files({ garden: good, good, failing: kubeconfigOf({ exec }) });
  const { garden, ...seeds } = input.paths;
  const seed = Object.entries(seeds).map(([name, file]) => `${name}=${file}`);
  expect((await clustersOf({ garden, seed })).seeds).toEqual(['good', 'failing']);
});

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
