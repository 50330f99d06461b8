import { expect, test } from 'vitest';
import { selectionsOf } from './selections.ts';
import { extension, onExtensions } from './testing.ts';
import { createKnownKeys, createTracker, type TrackedList } from './tracker.ts';

/** A tracker of Extensions, and the namespaces for which it has emitted changes. */
function tracking() {
  const definitions = [onExtensions()];
  const [selection] = selectionsOf(definitions, { garden: false, seeds: ['seed'] });
  if (selection === undefined) throw new Error('there is no selection');
  const emitted: string[] = [];
  const known = createKnownKeys(definitions);
  const tracker = createTracker(
    selection,
    (_, { namespace }) => emitted.push(namespace),
    known,
    () => {},
  );
  return { tracker, emitted };
}

function observe(list: Pick<TrackedList, 'observe'>, from: number, to: number) {
  for (let index = from; index < to; index++) {
    const { metadata } = extension(`shoot-${index}`, {}, { uid: `uid-${index}`, resourceVersion: `${index}` });
    list.observe({ apiVersion: 'extensions.gardener.cloud/v1alpha1', kind: 'Extension', metadata });
  }
}

test('thousands of objects that have vanished are found in turns with others', async () => {
  const { tracker, emitted } = tracking();
  observe(tracker.beginList(), 0, 20_000);
  emitted.length = 0;
  const seen: number[] = [];
  const other = setInterval(() => seen.push(emitted.length), 0);
  const list = tracker.beginList();
  observe(list, 0, 10);
  await list.complete('20001');
  clearInterval(other);
  expect(emitted).toHaveLength(19_990);
  expect(tracker.size()).toBe(10);
  expect(seen.filter((count) => count > 0 && count < 19_990).length).toBeGreaterThan(1);
});

test('what a watch or a newer list brings while vanished objects are found stays', async () => {
  const { tracker } = tracking();
  observe(tracker.beginList(), 0, 20_000);
  const list = tracker.beginList();
  const completed = list.complete('20001');
  observe(tracker, 19_000, 19_500);
  await completed;
  expect(tracker.size()).toBe(500);
  const abandoned = tracker.beginList().complete('20002');
  observe(tracker.beginList(), 19_000, 19_400);
  await abandoned;
  expect(tracker.size()).toBeGreaterThanOrEqual(400);
  expect([...tracker.keys('managed-resources')].map(({ namespace }) => namespace)).toContain('shoot-19399');
});
