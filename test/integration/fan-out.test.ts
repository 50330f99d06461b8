import { expect, test } from 'vitest';
import { definition } from '../../functions/fan-out/function.ts';
import { handler } from '../../functions/fan-out/handler.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import type { Cause } from '../../shared/runtime/change-request.ts';
import { done } from '../../shared/runtime/outcome.ts';
import { startGarden } from './garden.ts';

const cause: Cause = {
  type: 'object',
  cluster: 'garden',
  kind: 'ConfigMap',
  namespace: 'garden-foo',
  name: 'flux-config',
  uid: 'u',
  resourceVersion: '7',
};

function shoot(name: string, fields: { namespace?: string; spec?: object; status?: object } = {}): KubeObject {
  return {
    apiVersion: 'core.gardener.cloud/v1beta1',
    kind: 'Shoot',
    metadata: { namespace: fields.namespace ?? 'garden-foo', name },
    spec: { seedName: 'local', ...fields.spec },
    status: { technicalID: `shoot--foo--${name}`, seedName: 'local', ...fields.status },
  };
}

test("sends a change to every Extension of the project's Shoots on served seeds, and to no other", async () => {
  await using garden = await startGarden(definition, handler);
  garden.api.objects.ensureNamespace('garden-other');
  const shoots = [
    shoot('one'),
    shoot('moving', { spec: { seedName: 'other' } }),
    shoot('far', { spec: { seedName: 'other' }, status: { seedName: 'other' } }),
    shoot('without', { spec: { extensions: [{ type: 'shoot-flux', disabled: true }] } }),
    shoot('stranger', { namespace: 'garden-other' }),
  ];
  for (const object of shoots) garden.api.objects.create(object);
  expect(await garden.run({ causes: [cause] })).toEqual(done);
  expect(garden.sent.map(({ key }) => key.namespace).sort()).toEqual(['shoot--foo--moving', 'shoot--foo--one']);
  expect(garden.sent.every((change) => change.function === 'managed-resources' && change.cause === cause)).toBe(true);
  expect(garden.writes()).toEqual([]);
});

test('reads a project with many Shoots page by page', async () => {
  await using garden = await startGarden(definition, handler);
  const names = Array.from({ length: 600 }, (_, number) => `s${number}`);
  for (const name of names) garden.api.objects.create(shoot(name));
  const sizes: number[] = [];
  await garden.run({ causes: [cause], send: async (changes) => void sizes.push(changes.length) });
  expect(sizes).toEqual([250, 250, 100]);
});

test('fails when the garden does not answer or the queue refuses a change', async () => {
  await using garden = await startGarden(definition, handler);
  garden.api.objects.create(shoot('one'));
  garden.api.faults.add({ action: 'status', status: 503, match: { verb: 'list' } });
  await expect(garden.run()).rejects.toThrow('503');
  const send = () => Promise.reject(new Error('the queue is full'));
  await expect(garden.run({ send })).rejects.toThrow('the queue is full');
});
