import { describe, expect, it } from 'vitest';
import { type Line, lineText, readLine } from '../../shared/gardener/status-map.ts';
import type { FluxState } from './flux-state.ts';
import { lineToShow, secondsUntilShown, transition } from './shown-line.ts';

const since = '2026-01-02T03:00:00Z';
const at = (seconds: number) => new Date(Date.parse(since) + seconds * 1000);
const working: FluxState = { type: 'working', since, sentence: 'Applying.' };
const failing: FluxState = { type: 'failing', since, sentence: 'It fails.', needsUser: false };
const wrong: FluxState = { ...failing, needsUser: true };
const ready: FluxState = { type: 'ready', since };
const notReady: Line = { state: 'Not Ready', since: '2026-01-02T01:00:00Z', sentence: 'It failed.' };

const decided = (state: FluxState, seconds: number, published?: Line, isHibernated = false) =>
  lineToShow(state, { isHibernated, published, now: at(seconds) });

describe('a state', () => {
  it.each<[string, FluxState, number, number | undefined]>([
    ['at work, is shown after a minute', working, 10, 50],
    ['at work for a minute, is shown', working, 60, undefined],
    ['that may pass, is shown after a minute', failing, 0, 60],
    ['that a user has to correct, is shown at once', wrong, 0, undefined],
    ['of a healthy Flux, is shown at once', ready, 0, undefined],
  ])('%s', (_, state, seconds, expected) => {
    expect(secondsUntilShown(state, at(seconds))).toBe(expected);
  });

  it('is Not Ready at once where a user has to correct it, and otherwise after five minutes', () => {
    const line: Line = { state: 'Not Ready', since, sentence: 'It fails.' };
    expect(decided(wrong, 0)).toEqual({ line });
    expect(decided(failing, 300)).toEqual({ line });
    expect(decided(failing, 100)).toEqual({ line: { ...line, state: 'Progressing', after: 'new' }, againIn: 200 });
  });

  it('remembers since when it progresses, and that it was not Ready before', () => {
    const { line } = decided(working, 70, notReady);
    expect(line).toEqual({ state: 'Progressing', since, after: 'Not Ready', sentence: 'Applying.' });
    const later: FluxState = { ...working, since: '2026-01-02T03:30:00Z', sentence: 'Again.' };
    expect(decided(later, 4000, line).line).toEqual({ ...line, sentence: 'Again.' });
    expect(decided(working, 70, { state: 'Ready' }).line.after).toBeUndefined();
  });

  it('names the Flux release of the record', () => {
    const known = { isHibernated: false, published: undefined, now: at(0) };
    expect(lineToShow(ready, { ...known, flux: 'v2.9.4' })).toEqual({ line: { state: 'Ready', flux: 'v2.9.4' } });
    expect(lineToShow(ready, known)).toEqual({ line: { state: 'Ready' } });
  });

  it('repeats the first warning where it is Ready, and nowhere else', () => {
    const known = { isHibernated: false, published: undefined, now: at(0), warned: 'flux-config: fluxVersion is old' };
    const line: Line = { state: 'Ready', sentence: 'flux-config: fluxVersion is old.' };
    expect(lineToShow(ready, known)).toEqual({ line });
    expect(readLine(lineText(line, 300))).toMatchObject(line);
    expect(lineToShow(wrong, known).line.sentence).toBe('It fails.');
    expect(lineToShow(ready, { ...known, isHibernated: true })).toEqual({ line: { state: 'Hibernated' } });
  });

  it('is Hibernated whatever failed before', () => {
    expect(decided(wrong, 1000, notReady, true)).toEqual({ line: { state: 'Hibernated' } });
  });
});

describe('an Event', () => {
  const progressing = (before?: Line['after']): Line => ({ state: 'Progressing', since, after: before });
  const isReady: Line = { state: 'Ready' };

  it.each<[string, Line | undefined, Line, ReturnType<typeof transition>]>([
    ['a new Shoot becomes Ready', undefined, isReady, 'healthy'],
    ['a new Shoot becomes Ready after a while', progressing('new'), isReady, 'healthy'],
    ['a new Shoot fails', undefined, notReady, 'unhealthy'],
    ['a new Shoot fails after a while', progressing('new'), notReady, 'unhealthy'],
    ['a Ready Shoot fails', isReady, notReady, 'unhealthy'],
    ['a Ready Shoot fails after a while', progressing(), notReady, 'unhealthy'],
    ['a failing Shoot becomes Ready', notReady, isReady, 'healthy'],
    ['a failing Shoot becomes Ready after a while', progressing('Not Ready'), isReady, 'healthy'],
    ['a Ready Shoot progresses', isReady, progressing(), undefined],
    ['a Ready Shoot has progressed', progressing(), isReady, undefined],
    ['a failing Shoot fails otherwise', notReady, notReady, undefined],
    ['a failing Shoot is retried in vain', progressing('Not Ready'), notReady, undefined],
    ['a Shoot wakes up', { state: 'Hibernated' }, isReady, undefined],
    ['a Shoot is hibernated', notReady, { state: 'Hibernated' }, undefined],
  ])('when %s', (_, published, line, expected) => {
    expect(transition(published, line, since, at(60))).toBe(expected);
  });

  it('is not created for what happened before this function knew the Shoot', () => {
    expect(transition(undefined, isReady, since, at(3601))).toBeUndefined();
    expect(transition(undefined, notReady, since, at(3601))).toBeUndefined();
    expect(transition(notReady, isReady, since, at(3601))).toBe('healthy');
  });
});
