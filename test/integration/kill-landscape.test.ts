import { describe, expect, it } from 'vitest';
import { ABORT } from '../../shared/config/project-config.ts';
import { readState } from '../../shared/gardener/rollout.ts';
import type { Settings } from '../../shared/runtime/context.ts';
import { Killed, killing } from '../scenarios/killing.ts';
import { startFleet } from '../scenarios/rollout/fleet.ts';
import { liveWithKills } from '../scenarios/rollout/killed.ts';
import { sampling } from '../scenarios/sampling.ts';

const SHOOTS = ['s0', 's1', 's2', 's3'];
const MOST = 2;
const waves = [{ name: 'canary', shoots: { matchLabels: { stage: 'canary' } } }];
const rollout: Settings['rollout'] = { waves, pause: '5m', maxInProgress: MOST, maxFailed: 0 };
const data = {
  ...{ repositoryUrl: 'https://git.example.com/fleet', repositoryType: 'public', syncMode: 'Reconcile' },
  repositoryBranch: 'main',
};

describe('Shoots of a landscape', { timeout: typeof sampling === 'number' ? 120_000 : 1_200_000 }, () => {
  it('killed at any request, get a bad change of the operators in the canary alone, go back, and get a good one in turn', async () => {
    const labels = (shoot: string): Record<string, string> => (shoot === 's0' ? { stage: 'canary' } : {});
    await using fleet = await startFleet({ shoots: SHOOTS, labels, seeds: ['one', 'two'] });
    const levels = (level: string) =>
      SHOOTS.filter((shoot) => JSON.stringify(fleet.controllers(shoot)).includes(`--log-level=${level}`));
    const state = () => readState(fleet.landscape().LandscapeRolloutState);
    const give = (level: string) => {
      const settings: Partial<Settings> = { rollout, version: '0.0.0', defaults: { flux: { logLevel: level } } };
      fleet.given = () => settings;
      fleet.restart();
    };
    const wrong: string[] = [];
    const observe = () => {
      if (levels('error').some((shoot) => shoot !== 's0')) wrong.push(`${levels('error')} have the bad change`);
      const good = levels('debug');
      if (good.length > 0 && !good.includes('s0')) wrong.push(`${good} were changed before the canary`);
      const places = state()?.inProgress.size ?? 0;
      if (places > MOST) wrong.push(`${places} places`);
    };
    const bad = async () => {
      give('error');
      await fleet.pass(1500);
      expect(levels('error')).toEqual(['s0']);
      expect([...(state()?.failed ?? [])]).toEqual(['one/shoot--foo--s0']);
    };
    const abort = async () => {
      fleet.annotate({ [ABORT]: state()?.revision ?? '' });
      await fleet.pass(1500);
      expect(levels('info')).toEqual(SHOOTS);
    };
    const good = async () => {
      give('debug');
      await fleet.pass(3000);
      expect(levels('debug')).toEqual(SHOOTS);
      expect(fleet.landscape().LandscapeRollout).toMatch(/has ended: 4 done, 0 in progress, 0 waiting, 0 failed\.$/);
    };
    const end = async () => {
      expect(wrong).toEqual([]);
      expect(fleet.failures.filter((failure) => !(failure instanceof Killed))).toEqual([]);
    };
    fleet.edit(data);
    give('info');
    await fleet.settle();
    fleet.verdict = (shoot) => (levels('error').includes(shoot) ? 'bad' : 'ready');
    fleet.observe = observe;
    // What follows a place or a result is the same as in the other kill suites.
    const death = killing(
      () => fleet.restart(),
      ({ kind }) => kind === 'ConfigMap',
    );
    fleet.wrap = (client) => death.wrap(client);
    await liveWithKills(fleet, death, ['a landscape'], [bad, abort, good, end]);
  });
});
