import { expect, test } from 'vitest';
import { isAllowedVersion, isRangeOfFlux } from './checks.ts';

test.each([
  ['>=1.0.0, <2.0.0', true],
  ['>= 2.7, != 2.8.0, < 3', true],
  ['=>1.0 =<2.0', true],
  ['~>2', true],
  ['newest', false],
  ['', false],
])('Flux reads "%s" as a range: %s', (text, expected) => {
  expect(isRangeOfFlux(text)).toBe(expected);
});

test.each([
  ['v2.9.4', ['2.9.x'], true],
  ['2.9.4', ['v2.9.4'], true],
  ['v2.9.4', ['2.x'], true],
  ['v2.8.4', ['2.9.x', 'v2.8.4'], true],
  ['v2.8.4', ['2.9.x'], false],
  ['v2.9.40', ['v2.9.4'], false],
  ['v12.9.4', ['2.x'], false],
  // Ranges of the configuration need a release in common with the list.
  ['2.x', ['2.9.x'], true],
  ['2.9.x', ['v2.9.4'], true],
  ['2.8.x', ['2.9.x'], false],
  ['3.x', ['2.x'], false],
  // Pre-releases only by name.
  ['v2.9.0-rc.1', ['2.9.x', '2.x'], false],
  ['v2.9.0-rc.1', ['v2.9.0-rc.1'], true],
  ['2.9.x', ['v2.9.0-rc.1'], false],
  ['latest', ['2.x'], false],
])('%s in %j: %s', (requested, allowed, expected) => {
  expect(isAllowedVersion(requested, allowed)).toBe(expected);
});
