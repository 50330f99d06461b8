import { expect, test } from 'vitest';
import { clustersOf } from './clusters.ts';
import { files } from './testing.ts';

const kubeconfig = (user: object) => ({
  clusters: [{ name: 'nowhere', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'operator', user }],
  contexts: [{ name: 'here', context: { cluster: 'nowhere', user: 'operator' } }],
  'current-context': 'here',
});
const good = kubeconfig({ token: 'none' });
const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'false', interactiveMode: 'Never' };

test('a seed whose plugin fails does not keep the process from serving the others', async () => {
  await using input = await files({ garden: good, good, failing: kubeconfig({ exec }) });
  const { garden, ...seeds } = input.paths;
  const seed = Object.entries(seeds).map(([name, file]) => `${name}=${file}`);
  expect((await clustersOf({ garden, seed })).seeds).toEqual(['good', 'failing']);
});

test.each([
  ['the garden whose plugin fails', kubeconfig({ exec }), good, 'its exec or auth-provider failed'],
  [
    'a seed with a plugin and without a server',
    good,
    { ...kubeconfig({ exec }), clusters: [{ name: 'nowhere', cluster: {} }] },
    'has no server',
  ],
])('the process does not start with %s', async (_, garden, seed, message) => {
  await using input = await files({ garden, seed });
  const clusters = clustersOf({ garden: input.paths.garden, seed: [`a=${input.paths.seed}`] });
  await expect(clusters).rejects.toThrow(message);
});
