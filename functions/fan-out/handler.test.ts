import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import type { Context } from '../../shared/runtime/context.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { noMetrics } from '../../shared/runtime/metrics.ts';
import { fanOut } from './handler.ts';

const key = { cluster: 'garden', namespace: 'garden-foo', name: 'flux-config' };

it('begins no page so late that the run would end before its answer, and continues in another run', async () => {
  const pagesMs = 1_000;
  const begun: number[] = [];
  const sent: ChangeRequest[] = [];
  const start = performance.now();
  const garden = {
    find: async () => undefined,
    async list() {
      begun.push(performance.now() - start);
      // Two pages fit into the time, but not with the rest between them.
      await sleep(pagesMs * 0.8);
      const name = `s${begun.length}`;
      const shoot = { metadata: { name }, spec: { seedName: 'local' }, status: { technicalID: `shoot--foo--${name}` } };
      return { items: [shoot], resourceVersion: '1', continue: `after-${name}` };
    },
  };
  const context = {
    kube: async () => garden as unknown as KubeClient,
    settings: { seeds: ['local'] },
    send: async (changes: ChangeRequest[]) => void sent.push(...changes),
    causes: [],
    now: () => new Date(),
    log: createLog('error', () => {}),
    metrics: noMetrics,
    signal: new AbortController().signal,
  } as unknown as Context;
  await fanOut(key, context, pagesMs);
  expect(begun.filter((at) => at >= pagesMs)).toEqual([]);
  expect(sent.map(({ cause }) => cause.type)).toEqual(['object', 'continue']);
  expect(sent.at(-1)?.cause).toMatchObject({ after: 's1', token: 'after-s1' });
});
