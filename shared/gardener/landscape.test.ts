import { describe, expect, it } from 'vitest';
import { ABORT } from '../config/project-config.ts';
import {
  type Announcement,
  announced,
  type Documents,
  documentsOf,
  type LandscapeState,
  landscapeIn,
  landscapeText,
  revisionOfDocuments,
  targetOf,
} from './landscape.ts';

const documents = (version: string): Documents => ({ releases: ['v2.9.4'], program: version });
const [A, B, C] = ['0.1.0', '0.2.0', '0.3.0'].map(documents) as [Documents, Documents, Documents];
const [a, b, c] = [A, B, C].map(revisionOfDocuments) as [string, string, string];

/** Announces one after the other; each process has begun right before. */
function given(...all: [seed: string, documents: Documents, parts?: Partial<Announcement>][]): LandscapeState {
  let state: LandscapeState | undefined;
  for (const [index, [seed, documents, parts]] of all.entries()) {
    state = announced(state, { seed, documents, startedAt: 1000 + 100 * index, ...parts });
  }
  return state as LandscapeState;
}

describe('what operators give', () => {
  it('to the first seed is the target, and what they give anew replaces it', () => {
    expect(targetOf(given(['one', A]))).toBe(a);
    expect(targetOf(given(['one', A], ['two', A], ['one', B]))).toBe(b);
  });

  it('to a seed later, or once more, changes nothing else', () => {
    const state = given(['one', A], ['two', A], ['one', B]);
    const [later, restarted] = [B, A].map((documents, index) =>
      announced(state, { seed: 'two', documents, startedAt: 5000 + index }),
    );
    expect(later).toEqual({ ...state, seeds: { ...state.seeds, two: { revision: b, since: 5000 } } });
    expect(restarted).toBe(state);
  });

  it('to a seed that is new is not the target where others have got something newer', () => {
    expect(targetOf(given(['one', A], ['one', B], ['two', A]))).toBe(b);
    expect(targetOf(given(['one', A], ['one', B], ['two', C]))).toBe(c);
  });

  it('once more after something newer takes that back', () => {
    const state = given(['one', A], ['one', B], ['one', A]);
    expect(state.history.map(({ revision }) => revision)).toEqual([a, b]);
  });

  it('to a seed that only follows the others changes nothing else, also step by step or after a long time', () => {
    const behind = given(['two', A], ['one', A], ['one', B], ['one', C]);
    const step = announced(behind, { seed: 'two', documents: B, startedAt: 5000 });
    expect(targetOf(step)).toBe(c);
    expect(targetOf(announced(step, { seed: 'two', documents: C, startedAt: 6000 }))).toBe(c);
    // What it had is not kept any more.
    const forgotten = { ...behind, history: behind.history.slice(0, 2) };
    expect(targetOf(announced(forgotten, { seed: 'two', documents: B, startedAt: 5000 }))).toBe(c);
    // A seed that had the newest is taken back.
    expect(targetOf(announced(behind, { seed: 'one', documents: B, startedAt: 5000 }))).toBe(b);
  });

  it('to a process that is being replaced counts no more', () => {
    expect(targetOf(given(['one', A], ['one', B], ['one', A, { startedAt: 900 }]))).toBe(b);
  });

  it('goes back to what was before it when they abort it, and something new counts again', () => {
    const state = given(['one', A], ['one', B]);
    const annotations = { [ABORT]: b };
    expect(targetOf(state, annotations)).toBe(a);
    const next = announced(state, { seed: 'one', documents: C, startedAt: 5000 }, annotations);
    expect(targetOf(next, annotations)).toBe(c);
    expect(targetOf(given(['one', A]), { [ABORT]: a })).toBe(a);
  });

  it('never is what they aborted before, whatever becomes of that abortion', () => {
    const state = given(['one', A], ['one', B]);
    const next = (documents: Documents) =>
      announced(state, { seed: 'one', documents, startedAt: 5000 }, { [ABORT]: b });
    expect(targetOf(next(C), { [ABORT]: c })).toBe(a);
    expect(targetOf(next(A))).toBe(a);
  });

  it('counts also where it replaces a process that speaks only after the start of the next one', () => {
    // The second process began at 1100, and may have spoken at any time since.
    const state = given(['one', A], ['one', B], ['one', C, { startedAt: 1105 }]);
    expect(targetOf(state)).toBe(c);
    expect(announced(state, { seed: 'one', documents: B, startedAt: 1100 })).toBe(state);
  });

  it('is read back as it was written, without the oldest where there is no room', () => {
    const state = given(['one', A], ['one', B]);
    const map = (text: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: '' },
      data: { Landscape: text },
    });
    expect(landscapeIn(map(landscapeText(state)))).toEqual(state);
    const large = { ...B, defaults: { flux: { version: 'x'.repeat(400_000) } } };
    const full = given(['one', { ...A, defaults: large.defaults }], ['one', large]);
    const read = landscapeIn(map(landscapeText(full)));
    expect(documentsOf(read as LandscapeState, targetOf(full))).toEqual(large);
    expect(read?.history).toHaveLength(1);
    expect(landscapeIn(map('{"version":2}'))).toBeUndefined();
    // An API server counts bytes.
    const wide = (program: string) => documents(program + 'ä'.repeat(200_000));
    expect(Buffer.byteLength(landscapeText(given(['one', wide('1')], ['one', wide('2')])))).toBeLessThan(512 * 1024);
  });

  it('is kept for the last eight', () => {
    const many = Array.from({ length: 10 }, (_, index) => String(index)).map(
      (version) => ['one', documents(version)] as [string, Documents],
    );
    expect(given(...many).history.map(({ documents }) => documents.program)).toEqual([
      '9',
      '8',
      '7',
      '6',
      '5',
      '4',
      '3',
      '2',
    ]);
  });
});
