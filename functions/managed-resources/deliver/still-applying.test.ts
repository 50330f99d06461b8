import { expect, it } from 'vitest';
import {
  appliedFactory,
  conditionFactory,
  lastOperationFactory,
  managedResourceFactory,
} from '../../../shared/gardener/testing.ts';
import type { Applied, LastOperation, ManagedResource } from '../../../shared/gardener/types.ts';
import { applying } from './sentences.ts';
import { isStillApplying } from './still-applying.ts';

const names = { crds: 'shoot-flux-crds', secrets: 'shoot-flux-secrets', sync: 'shoot-flux-sync' };
const previous = appliedFactory({
  managedResources: { [names.crds]: 'content-c', [names.secrets]: 'content-s', [names.sync]: 'content-y' },
});
const underWay = lastOperationFactory({ state: 'Processing', description: applying(previous.fluxVersion) });

type State = 'applied' | 'pending' | 'failing' | 'other' | 'absent';

function live(states: Record<keyof typeof names, State>): Map<string, ManagedResource> {
  const map = new Map<string, ManagedResource>();
  for (const key of ['crds', 'secrets', 'sync'] as const) {
    const state = states[key];
    if (state === 'absent') continue;
    const name = names[key];
    const secretName = state === 'other' ? 'other' : (previous.managedResources[name] ?? '');
    const condition = conditionFactory({ type: 'ResourcesApplied', ...(state === 'failing' && { status: 'False' }) });
    const resource = managedResourceFactory(name, secretName);
    const status =
      state === 'pending' ? {} : { observedGeneration: resource.metadata.generation, conditions: [condition] };
    map.set(name, { ...resource, status } as ManagedResource);
  }
  return map;
}

it.each<[string, [State, State, State], boolean]>([
  ['all are pending', ['pending', 'pending', 'pending'], true],
  ['one is pending', ['applied', 'applied', 'pending'], true],
  ['sync objects wait for one', ['pending', 'applied', 'absent'], true],
  ['sync objects wait for the other', ['applied', 'pending', 'absent'], true],
  ['sync objects can be written', ['applied', 'applied', 'absent'], false],
  ['all are applied', ['applied', 'applied', 'applied'], false],
  ['one fails', ['pending', 'failing', 'pending'], false],
  ['one has other content', ['pending', 'pending', 'other'], false],
  ['one was not written', ['pending', 'absent', 'pending'], false],
])('%s', (_what, [crds, secrets, sync], expected) => {
  expect(isStillApplying({ previous, live: live({ crds, secrets, sync }), lastOperation: underWay })).toBe(expected);
});

it.each<[string, Applied | undefined, LastOperation | undefined]>([
  ['nothing was recorded', undefined, underWay],
  ['the operation has ended', previous, lastOperationFactory()],
  ['the operation waits for something else', previous, { ...underWay, description: 'Waiting.' }],
])('not when %s', (_what, record, lastOperation) => {
  const pending = live({ crds: 'pending', secrets: 'pending', sync: 'pending' });
  expect(isStillApplying({ previous: record, live: pending, lastOperation })).toBe(false);
});
