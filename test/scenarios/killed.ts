import { relative } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { commandFor, sample, sampling, samplingText, seed } from './sampling.ts';
import { type FunctionRequest, type Kill, type KillKind, killPerRequest, killPerState } from './world/kills.ts';
import type { Lifecycle } from './world/lifecycles.ts';
import { runWithKills } from './world/run-lifecycle.ts';
import type { WorldOptions } from './world/world.ts';

const pointsOf = sampling === 'all' ? killPerRequest : killPerState;
const timeout = typeof sampling === 'number' ? 60_000 : sampling === 'states' ? 600_000 : 3_600_000;

interface Options extends WorldOptions {
  /** True: also kills once after every single write of the lifecycle, with each kind, so that no run writes twice. */
  afterEveryWrite?: boolean;
}

/**
 * Runs every lifecycle once undisturbed, and then once for each kill: the product dies with everything in its memory,
 * starts again, and the garden, the seed and the shoot must end up the same.
 */
export function describeKilled(
  name: string,
  lifecycles: Lifecycle[],
  kinds: KillKind[],
  { afterEveryWrite = false, ...options }: Options = {},
): void {
  const title = `${name}, killed (${samplingText})`;
  describe(title, { timeout }, () => {
    let [kills, points] = [0, 0];

    it.for(lifecycles.map((lifecycle) => [lifecycle.name, lifecycle] as const))(
      '%s',
      async ([, lifecycle], { task }) => {
        const choose = (requests: FunctionRequest[]) => [
          ...kinds.flatMap((kind) => {
            const all = pointsOf(requests, kind);
            const chosen = sample(all, `${name} ${lifecycle.name} ${kind}`);
            expect(chosen.length, kind).toBeGreaterThan(0);
            points += all.length;
            kills += chosen.length;
            return chosen;
          }),
          ...(afterEveryWrite ? kinds.filter((kind) => survivesEveryWrite(kind, lifecycle)).map(afterEachWrite) : []),
        ];
        const { deviations } = await runWithKills(lifecycle, choose, options);
        const file = relative(process.cwd(), task.file.filepath);
        expect(deviations, `to repeat: ${commandFor(file, `${title} ${lifecycle.name}`)}\n`).toEqual([]);
      },
    );

    afterAll(() => {
      const rest = kills === points ? '' : `, chosen by seed ${seed}; all of them: npm run test:kills`;
      console.log(`${name}: ${kills} of ${points} kills${rest}`);
    });
  });
}

const afterEachWrite = (kind: KillKind): Kill => ({ at: 'every write', when: 'after', kind });

/** A lost run hides its message for a minute, and a removal gives up after two minutes. */
function survivesEveryWrite(kind: KillKind, { removes }: Lifecycle): boolean {
  return kind !== 'function' || removes !== true;
}
