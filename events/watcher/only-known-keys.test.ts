import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { resources } from '../../shared/kube/resource.ts';
import { definition, extension, onExtensions, onManagedResources, startListWatch, until, watching } from './testing.ts';

const { clusters, extensions, managedResources } = resources;

/** A function that follows Extensions and ManagedResources, and Clusters only beside them. */
const following = definition('managed-resources', [
  ...onExtensions().subscriptions,
  ...onManagedResources().subscriptions,
  {
    in: 'seed',
    resource: clusters,
    onlyKnownKeys: true,
    wakes: ({ spec }) => spec,
    keys: ({ metadata }, cluster) => [{ cluster, namespace: metadata.name, name: 'shoot-flux' }],
  },
]);

const cluster = (name: string, spec = 1) => ({ metadata: { name }, spec: { spec } });

/** Waits a few debounce times, after which every change is sent. */
const settled = () => wait(60);

test('a Cluster without an Extension wakes no function, neither listed nor changed nor in the resync', async () => {
  await using api = await startListWatch();
  for (let index = 0; index < 50; index++) api.put(clusters, cluster(`other-${index}`));
  api.put(clusters, cluster('ours'));
  api.put(extensions, extension('ours'));
  await using watcher = watching(api, [following], { resyncSeconds: 0.72 });
  await until(() => expect(api.openWatches()).toBe(3));
  for (let index = 0; index < 50; index++) api.put(clusters, cluster(`other-${index}`, 2));
  api.remove(clusters, api.put(clusters, cluster('other-0', 3)));
  await until(() => expect(watcher.sent.filter(({ cause }) => cause.type === 'resync').length).toBeGreaterThan(1));
  await settled();
  expect(new Set(watcher.sent.map(({ key }) => key.namespace))).toEqual(new Set(['ours']));
});

test('a Cluster wakes the function from the first Extension on, until its ManagedResources are gone too', async () => {
  await using api = await startListWatch();
  await using watcher = watching(api, [following]);
  await until(() => expect(api.openWatches()).toBe(3));
  let version = 0;
  const because = (why: string) => [`managed-resources a/shoot-flux because ${why}`];
  const clusterWakes = async (isAwake: boolean) => {
    watcher.sent.length = 0;
    api.put(clusters, cluster('a', ++version));
    if (!isAwake) await settled();
    await until(() => expect(watcher.short()).toEqual(isAwake ? because('Cluster a') : []));
  };

  await clusterWakes(false);
  const ours = api.put(extensions, extension('a'));
  await until(() => expect(watcher.short()).toEqual(because('Extension shoot-flux')));
  await clusterWakes(true);

  const left = api.put(managedResources, { metadata: { namespace: 'a', name: 'shoot-flux-crds' } });
  await until(() => expect(watcher.sent).toHaveLength(2));
  api.remove(extensions, ours);
  await until(() => expect(watcher.short().slice(2)).toEqual(because('Extension shoot-flux deleted')));
  await clusterWakes(true);

  api.remove(managedResources, left);
  await until(() => expect(watcher.short().slice(1)).toEqual(because('ManagedResource shoot-flux-crds deleted')));
  await clusterWakes(false);
});
