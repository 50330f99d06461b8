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
  it.each([
    ['applied', 'True for the current generation', resource()],
    ['pending', 'True for an older generation', resource({ observedGeneration: 1, conditions: [conditionFactory()] })],
    ['pending', 'not there', resource({})],
    ['pending', 'not there, nor the ManagedResource', undefined],
  ])('is %s when ResourcesApplied is %s', (state, _, live) => {
    expect(judged(live)).toEqual({ state });
  });

  it('accepts a failed first attempt for 20 seconds, and rechecks afterwards', () => {
    expect(judged(failing('no matches for kind'), 5)).toEqual({ state: 'struggling', recheckInSeconds: 15 });
  });

  it.each(['False', 'Progressing'] as const)('then fails, also between attempts (%s)', (status) => {
    const message = 'ManagedResource shoot-flux-crds cannot be applied to the shoot: no matches for kind';
    expect(judged(failing('no matches for kind', { status }), 20)).toEqual({ state: 'failed', message });
  });

  it('trap 23: reports a stuck deletion after a minute', () => {
    const message = 'deletion of old resource "v1/ConfigMap/a/b" is still pending';
    const stuck = failing(message, { status: 'Progressing', reason: 'DeletionPending' });
    expect(judged(stuck, 20)).toEqual({ state: 'struggling', recheckInSeconds: 40 });
    expect(judged(stuck, 60)).toMatchObject({ state: 'failed', message: expect.stringContaining('still pending') });
  });

  it('trap 22: names the remedy for a namespace that the resource-manager may not write into', () => {
    const message =
      'error during apply of object "v1/ConfigMap/flux-system/a": unable to get: flux-system/a because of unknown namespace for the cache';
    expect(judged(failing(message), 60)).toMatchObject({
      state: 'failed',
      message: expect.stringMatching(/--extra-target-namespace=flux-system \(.*webhook.*\)\.$/),
    });
  });

  it.each([
    ['true', 'applied'],
    ['True', 'applied'],
    ['1', 'applied'],
    ['false', 'pending'],
  ])(
    'trap 29: counts an ignored ManagedResource as applied, because it never advances: ignore "%s" is %s',
    (value, state) => {
      const ignored = resource({ observedGeneration: 1 });
      ignored.metadata.annotations = { 'resources.gardener.cloud/ignore': value };
      expect(judged(ignored)).toEqual({ state });
    },
  );
});

const contents = { 'shoot-flux-crds': 'c', 'shoot-flux-secrets': 's', 'shoot-flux-sync': 'y' };
const previous = appliedFactory({ managedResources: contents });
const underWay = lastOperationFactory({ state: 'Processing', description: applying(previous.fluxVersion) });

type State = 'applied' | 'pending' | 'failing' | 'other' | 'absent';

/** @param states of the three ManagedResources */
function live(...states: State[]): Map<string, ManagedResource> {
  const there = Object.entries(contents).flatMap(([name, content], index) => {
    const state = states[index];
    if (state === 'absent') return [];
    const condition = conditionFactory({ type: 'ResourcesApplied', ...(state === 'failing' && { status: 'False' }) });
    const status = state === 'pending' ? {} : { observedGeneration: 2, conditions: [condition] };
    return [managedResourceFactory(name, state === 'other' ? 'other' : content, { status })];
  });
  return new Map(there.map((one) => [one.metadata.name, one]));
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
])('%s', (_what, states, expected) => {
  expect(isStillApplying({ previous, live: live(...states) }, underWay)).toBe(expected);
});

it.each<[string, Applied | undefined, LastOperation | undefined]>([
  ['nothing was recorded', undefined, underWay],
  ['the operation has ended', previous, lastOperationFactory()],
  ['the operation waits for something else', previous, { ...underWay, description: 'Waiting.' }],
])('not when %s', (_what, record, lastOperation) => {
  const pending = live('pending', 'pending', 'pending');
  expect(isStillApplying({ previous: record, live: pending }, lastOperation)).toBe(false);
});
