import { expect, it, onTestFinished } from 'vitest';
import { extension, startListWatch } from '../../events/watcher/testing.ts';
import { lastOperationFactory } from '../../shared/gardener/testing.ts';
import { EXTENSION_TYPE } from '../../shared/gardener/types.ts';
import { resources } from '../../shared/kube/resource.ts';
import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { startProduct } from './product.ts';

const { extensions } = resources;

/** A watcher of one seed, and a transport that takes changes unless the test breaks it. */
async function start(isBroken: boolean) {
  const api = await startListWatch();
  onTestFinished(() => api[Symbol.asyncDispose]());
  api.put(extensions, extension('a', { spec: { type: EXTENSION_TYPE } }));
  const transport = { isBroken, sent: [] as ChangeRequest[] };
  const sender = {
    async send(changes: ChangeRequest[]) {
      if (transport.isBroken) throw new Error('no queue');
      transport.sent.push(...changes);
    },
  };
  const watching = await startProduct({
    credentials: () => async () => api.connection,
    clusters: { garden: false, seeds: ['one'] },
    open: async () => ({ sender, stop: async () => {} }),
    log: createLog('error', () => {}),
    port: 0,
  });
  onTestFinished(watching.stop);
  const get = () => fetch(`http://127.0.0.1:${watching.port}/readyz`);
  const ready = async () => (await get()).status;
  const page = async () => (await get()).text();
  return { api, transport, watching, ready, page };
}

const patience = { timeout: 240_000, interval: 20 };

it('is not ready before the transport has taken what the first lists have found', async () => {
  const { watching, transport, ready } = await start(true);
  const statuses = new Set<number>();
  while (!watching.watcher.ready()) statuses.add(await ready());
  for (let n = 0; n < 50; n++) statuses.add(await ready());
  expect([...statuses]).toEqual([503]);
  transport.isBroken = false;
  await expect.poll(ready, patience).toBe(200);
});

it('stays ready while the transport takes nothing, also for a function whose first change comes then', async () => {
  const { api, transport, page, ready } = await start(false);
  await expect.poll(ready, patience).toBe(200);
  expect(transport.sent.map((change) => change.function)).not.toContain('project-status');
  transport.isBroken = true;
  const status = { lastOperation: lastOperationFactory() };
  api.put(extensions, extension('a', { spec: { type: EXTENSION_TYPE }, status }));
  await expect.poll(page, patience).toContain('not ready queue project-status: 1 waiting, no queue');
  expect(await ready()).toBe(200);
});
