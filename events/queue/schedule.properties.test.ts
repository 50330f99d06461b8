import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RetryableError, TerminalError } from '../../shared/errors.ts';
import type { Cause } from '../../shared/runtime/change-request.ts';
import { keyText, type ReconcileKey } from '../../shared/runtime/key.ts';
import type { Next } from '../retry.ts';
import { causeOf } from '../testing.ts';
import { createSchedule, type Schedule, type Start } from './schedule.ts';

const clusters = ['garden', 'a', 'b'];
const error = new RetryableError('no answer');
const endings: Next[] = [
  { result: 'done' },
  { result: 'requeue', seconds: 0 },
  { result: 'requeue', seconds: 600 },
  { result: 'retry', seconds: 0, error },
  { result: 'retry', seconds: 60, error },
  { result: 'retry', seconds: 900, error, down: 'garden' },
  { result: 'dead_letter', error: new TerminalError('never') },
];
const causes: Cause[] = [
  causeOf(),
  causeOf({ awaited: true }),
  causeOf({ listed: true }),
  { type: 'resync', epoch: 1 },
  { type: 'continue', after: 's1', hop: 1, state: 'x' },
];

const key = fc.record({ cluster: fc.nat(clusters.length - 1), n: fc.nat(6) }).map(
  ({ cluster, n }): ReconcileKey => ({
    ...{ cluster: clusters[cluster] ?? '', namespace: `shoot--p${n % 3}--s${n}`, name: 'shoot-flux' },
  }),
);
const step = fc.oneof(
  fc.record({ do: fc.constant('add' as const), key, cause: fc.constantFrom(...causes) }),
  fc.record({ do: fc.constant('take' as const) }),
  fc.record({ do: fc.constant('end' as const), which: fc.nat(5), next: fc.constantFrom(...endings) }),
  fc.record({ do: fc.constant('lasts' as const), which: fc.nat(5) }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 1000, 60_000, 900_000) }),
  fc.record({ do: fc.constant('turn' as const), cluster: fc.constantFrom(...clusters) }),
);

/** A schedule with its clock and clusters, and the runs under way. */
class World {
  now = 0;
  readonly down = new Set<string>();
  readonly running: Start[] = [];
  /** Keys with a change that no run has begun for. */
  readonly open = new Set<string>();
  readonly schedule: Schedule = createSchedule({ concurrency: 4, isUp: (cluster) => !this.down.has(cluster) });

  add(to: ReconcileKey, cause: Cause) {
    this.schedule.add(to, cause, this.now);
    this.open.add(keyText(to));
  }

  take() {
    const start = this.schedule.take(this.now);
    if (start === undefined) return;
    expect(this.running.map((other) => keyText(other.key))).not.toContain(keyText(start.key));
    expect(this.down).not.toContain(start.key.cluster);
    this.running.push(start);
    this.open.delete(keyText(start.key));
  }

  end(which: number, next: Next) {
    const [start] = this.running.splice(which, 1);
    if (start !== undefined) this.schedule.end(start.key, next, this.now);
  }

  turn(cluster: string) {
    if (!this.down.delete(cluster)) this.down.add(cluster);
    else this.schedule.resume(cluster, this.now);
  }
}

it('loses no change, runs no key twice at a time, and ends empty, whatever happens', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const world = new World();
      for (const each of steps) {
        if (each.do === 'add') world.add(each.key, each.cause);
        else if (each.do === 'take') world.take();
        else if (each.do === 'end') world.end(each.which, each.next);
        else if (each.do === 'wait') world.now += each.ms;
        else if (each.do === 'turn') world.turn(each.cluster);
        else if (world.running[each.which] !== undefined) world.schedule.lasts(world.running[each.which]?.key as never);
      }
      for (const cluster of [...world.down]) world.turn(cluster);
      // Every key needs at most a run for what is pending, and one for what arrived during it.
      for (let round = 0; round < 200; round++) {
        world.take();
        world.end(0, { result: 'done' });
        world.now += 60_000;
      }
      expect([...world.open]).toEqual([]);
      expect(world.schedule.depth()).toEqual({ waiting: 0, delayed: 0, running: 0, parked: 0 });
      expect(world.schedule.nextDue()).toBeUndefined();
    }),
    { seed: 9, numRuns: 500 },
  );
});
