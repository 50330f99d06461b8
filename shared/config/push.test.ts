import { describe, expect, it } from 'vitest';
import { EVERY_REPOSITORY, pushAnnotation, pushRequestOf, repositoryId, withPush } from './push.ts';

const now = Date.parse('2026-01-02T03:04:05.000Z');
const id = (name: string) => repositoryId(`https://git.example.com/${name}`) ?? '';
const [a, b] = [id('a'), id('b')].sort() as [string, string];

describe('withPush', () => {
  it('asks at once, then after the interval, and once for all pushes until then', () => {
    const first = withPush(undefined, [a], now);
    expect(first).toEqual({ at: now, repositories: [a] });
    const second = withPush(first, [a], now + 100);
    expect(second).toEqual({ at: now + 5_000, repositories: [a] });
    expect(withPush(second, [a], now + 4_999)).toBeUndefined();
    expect(withPush(second, [b], now + 4_999)).toEqual({ at: now + 5_000, repositories: [a, b] });
    expect(withPush(second, [a], now + 5_000)).toEqual({ at: now + 10_000, repositories: [a] });
    expect(withPush(second, [a], now + 11_000)).toEqual({ at: now + 11_000, repositories: [a] });
  });

  it('keeps what was requested lately, and asks for everything where that is too much', () => {
    expect(withPush({ at: now - 1_000, repositories: [b] }, [a], now)?.repositories).toEqual([a, b]);
    const nine = Array.from({ length: 9 }, (_, index) => id(`${index}`));
    const every = withPush(undefined, nine, now);
    expect(every).toEqual({ at: now, repositories: [EVERY_REPOSITORY] });
    const waiting = withPush(every, [a], now + 1);
    expect(waiting?.repositories).toEqual([EVERY_REPOSITORY]);
    expect(withPush(waiting, [b], now + 2)).toBeUndefined();
  });
});

describe('pushRequestOf', () => {
  it('reads what pushAnnotation writes', () => {
    for (const request of [
      { at: now, repositories: [a, b] },
      { at: now + 5_000, repositories: [EVERY_REPOSITORY] },
    ]) {
      expect(pushRequestOf(pushAnnotation(request), now)).toEqual(request);
    }
  });

  it.each([
    undefined,
    '',
    'now *',
    '2026-01-02T03:04:05.000Z',
    '2026-01-02T03:04:05.000Z short',
    `2026-01-02T03:04:05.000Z ${Array(9).fill(a).join()}`,
    `2026-01-02T03:02:04.000Z ${a}`,
    `2036-01-02T03:04:05.000Z ${a}`,
  ])('ignores %j: what others have written, what is over, and the time of a clock that is wrong', (annotation) => {
    expect(pushRequestOf(annotation, now)).toBeUndefined();
  });
});

describe('repositoryId', () => {
  it('is the same for all addresses of a repository', () => {
    const addresses = [
      'https://git.example.com/org/fleet',
      'https://user@GIT.example.com/Org/Fleet.git/',
      'ssh://git@git.example.com:7999/org/fleet.git',
      'git@git.example.com:org/fleet.git',
      'https://git.example.com/scm/org/fleet.git',
    ];
    expect(new Set(addresses.map(repositoryId)).size).toBe(1);
    expect(repositoryId('https://git.example.com/org/fleet2')).not.toBe(repositoryId(addresses[0] ?? ''));
    expect(repositoryId('fleet')).toBeUndefined();
  });
});
