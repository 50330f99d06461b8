import { describe, expect, it } from 'vitest';
import {
  appliedFactory,
  conditionFactory,
  lastOperationFactory,
  managedResourceFactory,
} from '../../../shared/gardener/testing.ts';
import type { Applied, LastOperation, ManagedResource } from '../../../shared/gardener/types.ts';
import { isStillApplying, judge } from './judge.ts';
import { applying } from './restored.ts';

const resource = (status?: ManagedResource['status']) =>
  managedResourceFactory('shoot-flux-crds', 's', status === undefined ? {} : { status });
const failing = (message: string, parts: Parameters<typeof conditionFactory>[0] = {}) =>
  resource({
    observedGeneration: 1,
    conditions: [conditionFactory({ status: 'False', reason: 'ApplyFailed', message, ...parts })],
  });
const judged = (live: ManagedResource | undefined, seconds = 0) =>
  judge(['shoot-flux-crds'], new Map(live === undefined ? [] : [['shoot-flux-crds', live]]), seconds);

describe('judge', () => {
  it('is applied when ResourcesApplied is True for the current generation', async () => {
    expect(judged(resource())).toEqual({ state: 'applied' });
  });

  it('is pending when ResourcesApplied is True for an older generation', async () => {
    expect(judged(resource({ observedGeneration: 1, conditions: [conditionFactory()] }))).toEqual({
      state: 'pending',
    });
  });

  it('is pending without a ManagedResource or without a condition', async () => {
    expect(judged(undefined)).toEqual({ state: 'pending' });
    expect(judged(resource({}))).toEqual({ state: 'pending' });
  });

  it('accepts a failed first attempt for 20 seconds, and rechecks afterwards', async () => {
    expect(judged(failing('no matches for kind'), 5)).toEqual({ state: 'struggling', recheckInSeconds: 15 });
  });

  it.each(['False', 'Progressing'] as const)(
    'then fails with the message of the resource-manager, also between attempts (%s)',
    async (status) => {
      expect(judged(failing('no matches for kind', { status }), 20)).toEqual({
        state: 'failed',
        message: 'ManagedResource shoot-flux-crds cannot be applied to the shoot: no matches for kind',
      });
    },
  );

  it('trap 23: reports a stuck deletion after a minute', async () => {
    const stuck = failing('deletion of old resource "v1/ConfigMap/a/b" is still pending', {
      status: 'Progressing',
      reason: 'DeletionPending',
    });
    expect(judged(stuck, 20)).toEqual({ state: 'struggling', recheckInSeconds: 40 });
    expect(judged(stuck, 60)).toMatchObject({
      state: 'failed',
      message: expect.stringContaining('still pending'),
    });
  });

  it('trap 22: names the remedy for a namespace that the resource-manager may not write into', async () => {
    const message =
      'error during apply of object "v1/ConfigMap/flux-system/a": unable to get: flux-system/a because of unknown namespace for the cache';
    expect(judged(failing(message), 60)).toMatchObject({
      state: 'failed',
      message: expect.stringMatching(/--extra-target-namespace=flux-system \(.*webhook.*\)\.$/),
    });
  });

  it('names the remedy for an upgrade that skips a release which migrates stored objects', async () => {
    const message =
      'error during apply of object "apiextensions.k8s.io/v1/CustomResourceDefinition/default/buckets.source.toolkit.fluxcd.io": CustomResourceDefinition.apiextensions.k8s.io "buckets.source.toolkit.fluxcd.io" is invalid: status.storedVersions[0]: Invalid value: "v1beta2": missing from spec.versions; v1beta2 was previously a storage version';
    expect(judged(failing(message), 60)).toMatchObject({
      state: 'failed',
      message: expect.stringMatching(
        / buckets\.source\.toolkit\.fluxcd\.io in version v1beta2, .*with its next attempt/,
      ),
    });
  });

  it.each([
    ['true', 'applied'],
    ['True', 'applied'],
    ['1', 'applied'],
    ['false', 'pending'],
  ])(
    'trap 29: counts an ignored ManagedResource as applied, because it never advances: ignore "%s" is %s',
    async (value, state) => {
      const ignored = resource({ observedGeneration: 1 });
      ignored.metadata.annotations = { 'resources.gardener.cloud/ignore': value };
      expect(judged(ignored)).toEqual({ state });
    },
  );
});

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
