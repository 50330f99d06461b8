import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Cause } from '../../shared/runtime/change-request.ts';
import { beginning, continuation, type ForwardedCause, MOST_HOPS, next, type Position, START } from './handler.ts';

const forwarded = (resourceVersion = '7'): ForwardedCause => ({
  ...{ type: 'object', cluster: 'garden', kind: 'ConfigMap', namespace: 'garden-foo', name: 'flux-config' },
  ...{ uid: 'c', resourceVersion, also: 's' },
});
const rest = (after: string, more: object = {}): Cause => ({
  ...{ type: 'continue', after, token: `t-${after}`, hop: 3, state: 'c.7.s' },
  ...more,
});

/** A project whose queue has one entry for its key, or keeps each change on its own; each run handles one page. */
class Project {
  #version = 1;
  #valid = 1;
  #queue: Cause[][] = [[forwarded('1')]];
  readonly #notified = new Map<string, number>();

  readonly #count: number;
  readonly #size: number;
  readonly #merges: boolean;

  constructor(count: number, size: number, merges: boolean) {
    this.#count = count;
    this.#size = size;
    this.#merges = merges;
  }

  edit(): void {
    this.#version++;
    this.#push(forwarded(`${this.#version}`));
  }

  expire(): void {
    this.#valid++;
  }

  /** A run that died after its page was sent. */
  repeat(): void {
    const [causes] = this.#queue;
    if (causes !== undefined) this.#page(beginning(causes));
  }

  run(): void {
    const causes = this.#queue.shift();
    if (causes === undefined) return;
    let position = this.#page(beginning(causes));
    // The listing of what changed meanwhile begins in the same run.
    if (position?.after === '') position = this.#page(position);
    const rest = position && continuation(position, forwarded(`${this.#version}`));
    if (rest !== undefined) this.#push(rest);
  }

  drain(): void {
    for (let runs = 0; this.#queue.length > 0; runs++) {
      if (runs > 5_000) throw new Error('The listings do not end.');
      this.run();
    }
  }

  stale(): string[] {
    return this.#names().filter((name) => this.#notified.get(name) !== this.#version);
  }

  #page(position: Position): Position | undefined {
    const [valid, offset = 0] = (position.token ?? `${this.#valid} 0`).split(' ').map(Number);
    const start = valid === this.#valid ? offset : 0;
    const names = this.#names().slice(start, start + this.#size);
    for (const name of names) if (name > position.after) this.#notified.set(name, this.#version);
    const isLast = start + this.#size >= this.#count;
    return next(position, names, isLast ? undefined : `${this.#valid} ${start + this.#size}`);
  }

  #push(cause: Cause): void {
    if (this.#merges && this.#queue[0] !== undefined) this.#queue[0].push(cause);
    else this.#queue.push([cause]);
  }

  #names(): string[] {
    return Array.from({ length: this.#count }, (_, n) => `s${String(n).padStart(3, '0')}`);
  }
}

describe('the listing of the Shoots of a project', () => {
  it('begins at the start, and continues from its earliest position', () => {
    expect(beginning([forwarded()])).toEqual(START);
    const earliest = { after: 'm', token: 't-m', hop: 3, again: false };
    expect(beginning([rest('x'), rest('m')])).toEqual(earliest);
  });

  it('never goes back, also when a list begins again', () => {
    expect(next({ ...START, after: 'm' }, ['a', 'b'], 'token')).toMatchObject({ after: 'm' });
  });

  it('continues with a change of its own for each edit, also at the same place of the same list', () => {
    const position = { after: 'm', token: 't', hop: 0, again: false };
    expect(continuation(position, forwarded('7'))).not.toEqual(continuation(position, forwarded('8')));
  });

  it('continues without a token that is too long for a change', () => {
    const position = { after: 'm', token: 'x'.repeat(5_000), hop: 0, again: false };
    expect(continuation(position, forwarded())).not.toHaveProperty('token');
    expect(continuation(position, forwarded())).toMatchObject({ after: 'm' });
  });

  it('reaches every Shoot with the newest version, whatever happens between its runs', () => {
    const happening = fc.constantFrom('run', 'edit', 'expire', 'repeat');
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30 }),
        fc.array(happening, { maxLength: 30 }),
        fc.integer({ min: 1, max: 7 }),
        fc.boolean(),
        (count, happenings, size, merges) => {
          const project = new Project(count, size, merges);
          for (const next of happenings) project[next]();
          project.drain();
          expect(project.stale()).toEqual([]);
        },
      ),
      { seed: 9, numRuns: 500 },
    );
  });

  it('ends after so many runs', () => {
    expect(continuation({ ...START, hop: MOST_HOPS - 2 }, forwarded())).toMatchObject({ hop: MOST_HOPS - 1 });
    expect(continuation({ ...START, hop: MOST_HOPS - 1 }, forwarded())).toBeUndefined();
  });
});
