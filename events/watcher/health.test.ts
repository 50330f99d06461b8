import { expect, test } from 'vitest';
import { resources } from '../../shared/kube/resource.ts';
import { createClusterHealth } from '../../shared/runtime/cluster-health.ts';
import { extension, onExtensions, quick, refuse, startListWatch, until, watching } from './testing.ts';

const { extensions } = resources;

/** The verdict of a prober that the test gives. */
function probedHealth() {
  const health = createClusterHealth();
  health.attachProber(() => {});
  return health;
}

/** No wait of the watcher's own ends within a test. */
const patient = { ...quick, backoffMs: 1e9, backoffCapMs: 1e9 };

test('lists a seed as soon as it answers again, whatever the back-off', async () => {
  await using api = await startListWatch();
  api.put(extensions, extension('a'));
  const health = probedHealth();
  api.answerWith(refuse(503, 'ServiceUnavailable'));
  health.declare('seed', 'Timeout');
  await using watcher = watching(api, [onExtensions()], { health, timing: patient });
  await until(() => expect(watcher.status()[0]?.problem).toContain('503'));
  api.answerWith(undefined);
  expect(watcher.alive()).toBe(true);
  health.declare('seed', undefined);
  await until(() => expect(watcher.sent).toHaveLength(1));
});

test('opens a new watch when its cluster was away: events over the old connection may never arrive', async () => {
  await using api = await startListWatch();
  const health = probedHealth();
  await using watcher = watching(api, [onExtensions()], {
    health,
    timing: { ...patient, shortWatchMs: 1e9, inactivityMs: [1e9, 1e9] },
  });
  await until(() => expect(api.openWatches()).toBe(1));
  health.declare('other', 'Timeout');
  health.declare('seed', 'Timeout');
  await until(() => expect(api.watchRequests()).toHaveLength(2));
  health.declare('seed', undefined);
  await until(() => expect(api.watchRequests()).toHaveLength(3));
  await until(() => expect(api.openWatches()).toBe(1));
  api.put(extensions, extension('a'));
  await until(() => expect(watcher.sent).toHaveLength(1));
  expect(api.listRequests()).toHaveLength(1);
});
