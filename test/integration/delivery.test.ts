import { describe, expect, it } from 'vitest';
import { differences, type EndState } from '../scenarios/world/end-state.ts';
import { CONTROL_PLANE } from '../scenarios/world/gardenlet.ts';
import { lifecycles } from '../scenarios/world/lifecycles.ts';
import { runLifecycle } from '../scenarios/world/run-lifecycle.ts';
import { create, publicRepository } from '../scenarios/world/steps.ts';
import { startWorld } from '../scenarios/world/world.ts';

/** Marks that the resource-manager puts on the objects it applies. */
const marks = ['origin', 'description', 'managed-by'].map((mark) => `resources.gardener.cloud/${mark}`);

describe('delivery Direct', () => {
  it.for(lifecycles.map((lifecycle) => [lifecycle.name, lifecycle] as const))(
    'ends as with ManagedResources: %s',
    async ([, lifecycle]) => {
      const managed = await runLifecycle(lifecycle);
      const direct = await runLifecycle(lifecycle, { delivery: 'Direct' });
      expect(direct.violations).toEqual([]);
      expect(Object.keys(direct.end.objects).filter((title) => title.startsWith('seed ManagedResource'))).toEqual([]);
      expect(differences(shootOf(managed.end), shootOf(direct.end))).toEqual([]);
    },
  );

  it('waits for a kubeconfig in the control plane without hot retries, and reports it in time', async () => {
    await using world = await startWorld({ delivery: 'Direct' });
    world.seed.objects.delete({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: CONTROL_PLANE, name: 'gardener' },
    });
    create(publicRepository)(world);
    await world.settle();
    expect(world.gardenlet.extension()).toMatchObject({
      status: {
        lastOperation: { state: 'Error' },
        lastError: { description: expect.stringContaining('no kubeconfig') },
      },
    });
  });
});

function shootOf({ objects }: EndState): unknown {
  const inShoot = Object.entries(objects).filter(([title]) => title.startsWith('shoot '));
  return Object.fromEntries(inShoot.map(([title, object]) => [title, unmarked(object)]));
}

/** Removes the marks, and fields that only held them. */
function unmarked(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value)
    .filter(([key]) => !marks.includes(key))
    .map(([key, inner]) => [key, unmarked(inner)] as const);
  const isEmpty = (inner: unknown) => JSON.stringify(inner) === '{}';
  return Object.fromEntries(entries.filter(([key, inner]) => !(isMeta(key) && isEmpty(inner))));
}

const isMeta = (key: string) => key === 'labels' || key === 'annotations';
