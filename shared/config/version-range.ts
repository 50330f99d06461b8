import semver from 'semver';
import { limits } from './limits.ts';

/** Returns whether a text is a range in npm's language: `2.x`, `>=2.8 <2.10`, `~2.8`, `^2`, `2.6 - 2.8`, and `||` between. */
export function isVersionRange(text: string): boolean {
  return text.trim() !== '' && semver.validRange(text) !== null;
}

/** Returns the problem with a range that is too long to be compared with every release. */
export function rangeProblem(range: string): string | undefined {
  const { most } = limits.comparisons;
  return new semver.Range(range).set.flat().length > most ? `has more than ${most} comparisons; use fewer` : undefined;
}

/**
 * Returns whether Flux reads a text as a range. Its library Masterminds/semver knows what npm does not: commas, `!=`, `=>` and
 * `=<`.
 */
export function isRangeOfFlux(text: string): boolean {
  const ofNpm = text
    .replaceAll(',', ' ')
    .replace(/!=\s*/g, '')
    .replace(/=([<>])/g, '$1=');
  return isVersionRange(ofNpm);
}

/** Returns whether a release is in a list of releases and ranges, or a range has releases in common with it. */
export function isAllowedVersion(requested: string, allowed: readonly string[]): boolean {
  if (semver.valid(requested) !== null) return allowed.some((range) => semver.satisfies(requested, range));
  return isVersionRange(requested) && allowed.some((range) => semver.intersects(requested, range));
}
