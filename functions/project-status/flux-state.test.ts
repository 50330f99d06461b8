import { describe, expect, it } from 'vitest';
import {
  appliedFactory,
  conditionFactory,
  extensionFactory,
  lastOperationFactory,
} from '../../shared/gardener/testing.ts';
import type { Applied, Condition, ExtensionStatus } from '../../shared/gardener/types.ts';
import { fluxState, newsOf, rolloutNews } from './flux-state.ts';
import { definition } from './function.ts';

const object = (kind: string) => ({ apiVersion: 'v1', kind, namespace: 'flux-system', name: 'main' });
const applied = appliedFactory({ source: object('GitRepository'), kustomization: object('Kustomization') });
const types = ['FluxReady', 'SourceReady', 'KustomizationReady'];
const early = '2026-01-02T03:00:00Z';
const late = '2026-01-02T04:00:00Z';

const condition = (type: string, parts: Partial<Condition> = {}): Condition =>
  conditionFactory({ type, message: `${type} is Ready. (config c0ffee)`, lastTransitionTime: early, ...parts });
const failed = (type: string, parts: Partial<Condition> = {}): Condition =>
  condition(type, { status: 'False', message: `${type} fails. (config c0ffee)`, lastTransitionTime: late, ...parts });

/** The state of a Shoot with everything Ready, apart from these parts of its status and conditions. */
function stateOf(parts: Partial<ExtensionStatus>, ...conditions: Condition[]) {
  const ready = types.filter((type) => !conditions.some((one) => one.type === type)).map((type) => condition(type));
  const status = { lastOperation: lastOperationFactory(), state: { applied }, conditions: [...ready, ...conditions] };
  return fluxState(extensionFactory({ status: { ...status, ...parts } }));
}

describe('Flux in a shoot', () => {
  it('is Ready when all conditions are about what is applied now', () => {
    expect(stateOf({})).toEqual({ type: 'ready', since: early });
    expect(stateOf({}, condition('SourceReady', { lastTransitionTime: late }))).toEqual({ type: 'ready', since: late });
  });

  it('is Ready while an operation changes nothing', () => {
    expect(stateOf({ lastOperation: lastOperationFactory({ state: 'Processing' }) }).type).toBe('ready');
  });

  it('needs no condition of parts that are not configured', () => {
    const state = { applied: appliedFactory() };
    expect(stateOf({ state, conditions: [condition('FluxReady')] }).type).toBe('ready');
  });

  it.each<[string, Partial<ExtensionStatus>]>([
    ['has no condition of its Kustomization yet', { conditions: [condition('FluxReady'), condition('SourceReady')] }],
    ['has conditions about another configuration', { state: { applied: { ...applied, configHash: 'other' } } }],
    ['has no record', { state: {} }],
    [
      'is tried again after a failure',
      { lastOperation: lastOperationFactory({ state: 'Processing' }), state: { applied, failingSince: early } },
    ],
  ])('is at work when it %s', (_, parts) => {
    expect(stateOf(parts)).toMatchObject({ type: 'working', since: '2026-01-02T03:04:05Z' });
  });

  it('is at work or fails while the objects beside source and Kustomization are not Ready', () => {
    const others = [{ ...object('HelmRelease'), place: { object: 'providerConfig', path: 'objects[0]' } }];
    const state = { applied: { ...applied, others } };
    expect(stateOf({ state })).toMatchObject({ type: 'working' });
    expect(stateOf({ state }, condition('ObjectsReady'))).toMatchObject({ type: 'ready' });
    expect(stateOf({ state }, failed('ObjectsReady'))).toMatchObject({
      ...{ type: 'failing', sentence: 'ObjectsReady fails.' },
    });
  });

  it('fails with the sentence of the condition, without the hash of the configuration', () => {
    expect(stateOf({}, failed('SourceReady'))).toEqual({
      ...{ type: 'failing', since: late, sentence: 'SourceReady fails.', needsUser: false },
    });
  });

  it('fails since the first of its parts fails, and says what a user has to correct', () => {
    const codes = ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'];
    const conditions = [
      failed('SourceReady', { lastTransitionTime: early }),
      failed('KustomizationReady', { codes, message: 'Correct the path. (config c0ffee)' }),
    ];
    expect(stateOf({}, ...conditions)).toEqual({
      ...{ type: 'failing', since: early, sentence: 'Correct the path.', needsUser: true },
    });
  });

  it('fails when the configuration is wrong and the last applied one stays', () => {
    const state = stateOf({}, failed('ConfigurationFollowed'), failed('SourceReady', { lastTransitionTime: early }));
    expect(state).toMatchObject({ sentence: 'ConfigurationFollowed fails.', since: late, needsUser: true });
  });

  it('fails with the error of the operation, since the operation has been failing', () => {
    const lastOperation = lastOperationFactory({ state: 'Error' });
    const lastError = { description: 'providerConfig: source is missing.', codes: ['ERR'] };
    expect(stateOf({ lastOperation, lastError, state: { applied, failingSince: early } })).toEqual({
      ...{ type: 'failing', since: early, sentence: lastError.description, needsUser: true },
    });
    expect(stateOf({ lastOperation, lastError: { description: 'not yet' } })).toMatchObject({
      ...{ since: lastOperation.lastUpdateTime, needsUser: false },
    });
  });

  it('is the same as it was while a failing Shoot is reconciled again', () => {
    const lastOperation = lastOperationFactory({ state: 'Processing', lastUpdateTime: late });
    expect(stateOf({ lastOperation }, failed('SourceReady'))).toEqual(stateOf({}, failed('SourceReady')));
  });
});

it('the steps of an operation are no news, and a new sentence is', () => {
  const step = (description: string) =>
    newsOf(stateOf({ state: {}, lastOperation: lastOperationFactory({ state: 'Processing', description }) }));
  expect(step('one')).toEqual(step('two'));
  const sentence = (message: string) => newsOf(stateOf({}, failed('SourceReady', { message })));
  expect(sentence('one')).not.toEqual(sentence('two'));
});

it('a warning is news where Flux is Ready', () => {
  const [subscription] = definition.subscriptions;
  const wakes = (warnings: string[] | undefined, message?: string) => {
    const conditions = types.map((type) => condition(type, message === undefined ? {} : { status: 'False', message }));
    const state = { applied: appliedFactory({ ...applied, warnings }) };
    return subscription?.wakes(
      extensionFactory({ status: { lastOperation: lastOperationFactory(), state, conditions } }),
    );
  };
  expect(wakes(['fluxVersion is old'])).not.toEqual(wakes(undefined));
  expect(wakes(['fluxVersion is old'], 'It fails.')).toEqual(wakes(undefined, 'It fails.'));
});

it('is neither a success nor a failure of a rollout until Flux was looked at after a resumption', () => {
  const news = (parts: Partial<Applied>, kustomization: Condition, status: Partial<ExtensionStatus> = {}) => {
    const state = { applied: { ...applied, revision: 'abcdef012345', ...parts } };
    const conditions = [condition('FluxReady'), kustomization];
    const { revision, isJudged, isSuspended } =
      rolloutNews(extensionFactory({ status: { state, conditions, ...status } })) ?? {};
    return [revision, isJudged, isSuspended];
  };
  const suspension = 'by mia since 2026-01-02T03:04:05Z: leaked key';
  const suspended = condition('KustomizationReady', { reason: 'Suspended' });
  expect(news({ suspension }, condition('KustomizationReady'))).toEqual(['abcdef012345', false, true]);
  expect(news({ suspension }, suspended)).toEqual(['abcdef012345', false, true]);
  expect(news({}, suspended)).toEqual(['abcdef012345', false, true]);
  expect(news({}, failed('KustomizationReady'))).toEqual(['abcdef012345', true, false]);
  // An operation after the resumption has failed.
  const lastOperation = lastOperationFactory({ state: 'Error' });
  expect(news({}, suspended, { lastOperation })).toEqual(['abcdef012345', true, false]);
  // What its configuration suspends is a failure.
  expect(news({}, failed('KustomizationReady', { reason: 'Suspended' }))).toEqual(['abcdef012345', true, false]);
});
