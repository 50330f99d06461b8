import { describe, expect, it } from 'vitest';
import { Killed, killing } from '../scenarios/killing.ts';
import { type Fleet, startFleet } from '../scenarios/rollout/fleet.ts';
import { liveWithKills } from '../scenarios/rollout/killed.ts';
import { sampling } from '../scenarios/sampling.ts';

const GOOD = 'good';
const SHOOTS = ['s0', 's1', 's2', 's3'];
const MOST = 2;
const rollout = `{ maxInProgress: ${MOST}, maxFailed: 0 }`;
const edit = (repositoryBranch: string, parts: Record<string, string> = { rollout }): Record<string, string> => ({
  ...{ repositoryUrl: 'https://git.example.com/fleet', repositoryType: 'public', syncMode: 'Reconcile' },
  ...{ repositoryBranch, ...parts },
});

/** Edits of one project with several Shoots, each with the seconds until the next; the last one has to reach all of them. */
interface Life {
  name: string;
  edits: (branch: string) => [Record<string, string>, seconds: number][];
  /** True: the first edit pauses the rollout. */
  pauses?: boolean;
  /** True: in the end there is no rollout. */
  ends?: boolean;
}

const lives: Life[] = [
  { name: 'an edit', edits: (branch) => [[edit(branch), 200]] },
  {
    name: 'a bad edit that pauses the rollout, and then a good one',
    pauses: true,
    edits: (branch) => [
      [edit(`bad-${branch}`), 200],
      [edit(branch), 200],
    ],
  },
  {
    name: 'two edits, the second one before anything of the first has ended',
    edits: (branch) => [
      [edit(`silent-${branch}`), 5],
      [edit(branch), 400],
    ],
  },
  {
    name: 'an edit that is not valid in the middle, and then a valid one',
    edits: (branch) => [
      [edit(`silent-${branch}`), 5],
      [edit(branch, { rollout, repositoryBranchh: 'typo' }), 5],
      [edit(branch), 400],
    ],
  },
  {
    name: 'a rollout that is removed in the middle',
    ends: true,
    edits: (branch) => [
      [edit(`silent-${branch}`), 5],
      [edit(branch, {}), 400],
    ],
  },
];

const withBranch = (fleet: Fleet, branch: string) =>
  [...fleet.branches().values()].filter((one) => one === branch).length;

describe('Shoots of a project in a rollout', { timeout: typeof sampling === 'number' ? 120_000 : 1_200_000 }, () => {
  it.for(lives.map((life) => [life.name, life] as const))(
    'killed at any request, all get %s, never more at a time than may, and flux-status is true',
    async ([name, { edits, pauses = false, ends = false }]) => {
      await using fleet = await startFleet({ shoots: SHOOTS });
      fleet.verdict = (_, branch) =>
        branch.startsWith('bad') ? 'bad' : branch.startsWith('silent') ? 'silent' : 'ready';
      const wrong: string[] = [];
      /** The state of the clusters after each round of runs and each change of a ManagedResource or of flux-status. */
      const observe = () => {
        const unjudged = [GOOD, `bad-${GOOD}`, `silent-${GOOD}`].flatMap((one) => fleet.unjudged(one));
        const isLimited = !ends || fleet.state() !== undefined;
        if (isLimited && unjudged.length > MOST) wrong.push(`${unjudged} are changed at the same time`);
        const places = fleet.state()?.inProgress.size ?? 0;
        if (places > MOST) wrong.push(`${places} places`);
        const bad = withBranch(fleet, `bad-${GOOD}`);
        if (bad > MOST) wrong.push(`${bad} have the bad edit`);
      };
      const phases = edits(GOOD).map(([data, seconds]) => async () => {
        fleet.edit(data);
        await fleet.settle(seconds);
        if (!pauses || data.repositoryBranch === GOOD) return;
        expect(withBranch(fleet, `bad-${GOOD}`)).toBeGreaterThan(0);
        expect(fleet.status().Rollout).toContain(' is paused, because more than 0 failed');
      });
      const end = async () => {
        expect(wrong).toEqual([]);
        expect(withBranch(fleet, GOOD)).toBe(SHOOTS.length);
        expect(fleet.lies()).toEqual([]);
        if (ends) expect(fleet.state()).toBeUndefined();
        else expect(fleet.status().Rollout).toMatch(/has ended: 4 done, 0 in progress, 0 waiting, 0 failed\.$/);
        expect(fleet.failures.filter((failure) => !(failure instanceof Killed))).toEqual([]);
      };
      for (const data of [edit('base', {}), edit('base')]) {
        fleet.edit(data);
        await fleet.settle(200);
      }
      const death = killing(() => fleet.restart());
      fleet.wrap = (client) => death.wrap(client);
      fleet.observe = observe;
      const samples = ['', ' once more', ' and again'].map((suffix) => `${name}${suffix}`);
      await liveWithKills(fleet, death, samples, [...phases, end]);
    },
  );
});
