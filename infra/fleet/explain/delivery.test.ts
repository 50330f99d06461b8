import { expect, it } from 'vitest';
import {
  appliedFactory,
  conditionFactory,
  extensionFactory,
  managedResourceFactory,
} from '../../../shared/gardener/testing.ts';
import type { ManagedResource } from '../../../shared/gardener/types.ts';
import { explainDelivery } from './delivery.ts';

const name = 'shoot-flux-sync';
const planned = (secret: string) =>
  extensionFactory({ status: { state: { applied: appliedFactory({ managedResources: { [name]: secret } }) } } });
const unhealthy = conditionFactory({
  type: 'ResourcesHealthy',
  status: 'False',
  message: 'Kustomization main-ks is not.',
});

it.each<[string, string, ManagedResource[], string, string | undefined]>([
  ['applied', 'a', [managedResourceFactory(name, 'a')], 'ok', undefined],
  [
    ...(['applied and not healthy', 'a'] as const),
    [
      managedResourceFactory(name, 'a', {
        status: { observedGeneration: 2, conditions: [conditionFactory(), unhealthy] },
      }),
    ],
    ...(['attention', 'is applied, and not healthy: Kustomization main-ks is not.'] as const),
  ],
  [
    'not seen by the resource-manager',
    'a',
    [managedResourceFactory(name, 'a', { status: {} })],
    'attention',
    'waits for the resource-manager of the Shoot.',
  ],
  [
    'behind the plan',
    'b',
    [managedResourceFactory(name, 'a')],
    'attention',
    'has its former content; the next run writes the new one.',
  ],
  ['missing', 'a', [], 'broken', 'does not exist; the next run of shoot-flux creates it.'],
])('a ManagedResource that is %s', (_, secret, managedResources, mark, sentence) => {
  const seed = { namespace: 'shoot--foo--bar', flags: [], extension: planned(secret), managedResources };
  const link = explainDelivery(seed);
  expect(link.mark).toBe(mark);
  expect(link.sentence).toBe(sentence && `ManagedResource ${name} ${sentence}`);
});

it('says that nothing has been delivered', () => {
  const seed = { namespace: 'shoot--foo--bar', flags: [], extension: undefined, managedResources: [] };
  expect(explainDelivery(seed)).toMatchObject({ mark: 'attention', text: 'nothing has been delivered yet' });
});
