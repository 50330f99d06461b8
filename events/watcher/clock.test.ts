import { afterEach, expect, test, vi } from 'vitest';
import { resources } from '../../shared/kube/resource.ts';
import { extension, onExtensions, startListWatch, until, watching } from './testing.ts';

const { extensions } = resources;

afterEach(() => {
  vi.useRealTimers();
});

/** Sets the clock of the system; timers keep their pace. */
function setClock(byMs: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + byMs });
}

test.each([
  ['back by a day', -86_400_000],
  ['forward by a day', 86_400_000],
])('setting the clock %s neither stops the resync nor sends everything at once', async (_, byMs) => {
  await using api = await startListWatch();
  for (let index = 0; index < 40; index++) api.put(extensions, extension(`shoot-${index}`));
  // Five ms per step.
  await using watcher = watching(api, [onExtensions()], { resyncSeconds: 1.8 });
  const resyncs = () => watcher.sent.filter(({ cause }) => cause.type === 'resync').map(({ key }) => key.namespace);
  await until(() => expect(resyncs().length).toBeGreaterThan(0));
  setClock(byMs);
  const before = resyncs().length;
  await until(() => expect(new Set(resyncs().slice(before)).size).toBe(40));
  expect(watcher.alive()).toBe(true);
});
