import { describe, expect, it, test } from 'vitest';
import { haveCommonRelease, includesVersion, versionRange } from './version-range.ts';

/** test/real/version-range.test.ts compares thousands of ranges with the library that Flux uses. */
describe('includes', () => {
  const releases = ['2.6.4', '2.7.5', '2.8.0', '2.8.8', '2.9.0-rc.1', '2.9.4', '3.0.0'];
  test.each([
    ['2.x', ['2.6.4', '2.7.5', '2.8.0', '2.8.8', '2.9.4']],
    ['v2.8.x', ['2.8.0', '2.8.8']],
    ['2.8', ['2.8.0', '2.8.8']],
    ['>=2.8 <2.9', ['2.8.0', '2.8.8']],
    ['>= 2.7, != 2.8.0, < 3', ['2.7.5', '2.8.8', '2.9.4']],
    ['~2.8', ['2.8.0', '2.8.8']],
    ['~2.8.1', ['2.8.8']],
    ['~>2', ['2.6.4', '2.7.5', '2.8.0', '2.8.8', '2.9.4']],
    ['^2.7', ['2.7.5', '2.8.0', '2.8.8', '2.9.4']],
    ['2.6 - 2.7', ['2.6.4', '2.7.5']],
    ['2.6.x || >2.9', ['2.6.4', '3.0.0']],
    ['<=2.7', ['2.6.4', '2.7.5']],
    ['*', ['2.6.4', '2.7.5', '2.8.0', '2.8.8', '2.9.4', '3.0.0']],
    // Pre-releases only where a comparison names one.
    ['>=2.9.0-rc.0 <3', ['2.9.0-rc.1', '2.9.4']],
    ['^2.8.1-0', ['2.8.8', '2.9.0-rc.1', '2.9.4']],
  ])('%s: %j', (text, expected) => {
    const range = versionRange(text) ?? [];
    expect(releases.filter((release) => includesVersion(range, release))).toEqual(expected);
  });
});

test.each(['', 'newest', '>', '2.9.4 ||', '>=2.8 and <2.9', '2.9.y', 'v', '1.2.3.4', '>>2', '2.8 -2.9'])(
  '"%s" is no range',
  (text) => {
    expect(versionRange(text)).toBeUndefined();
  },
);

describe('ranges with a common release', () => {
  it.each([
    ['>=2.8 <2.10', '2.9.x', true],
    ['~2.8', '2.9.x', false],
    ['>2.8', '<2.9', false],
    ['>2.8.3', '<2.9', true],
    ['!=2.8.3', '2.8.3', false],
    ['!=2.8.3', '2.8.x', true],
    ['>2.8.8', '2.8.9', true],
    ['^2', '>=3', false],
    ['2.6.x || 3.x', '^3.1', true],
    ['*', '>=9', true],
  ])('%s and %s: %s', (one, other, expected) => {
    const [a, b] = [versionRange(one) ?? [], versionRange(other) ?? []];
    expect([haveCommonRelease(a, b), haveCommonRelease(b, a)]).toEqual([expected, expected]);
  });
});
