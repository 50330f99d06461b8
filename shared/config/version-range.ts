import { limits } from './limits.ts';

/** The version of a release: major, minor and patch, and the part after the dash of a pre-release. */
interface Version {
  numbers: readonly number[];
  pre: string;
}

/** One comparison of a range, for example `>=2.8`. */
interface Comparison {
  operator: string;
  /** Missing parts are 0. */
  version: Version;
  /** How many numbers are given before the first `x`; 3: the version is complete. */
  given: number;
}

/** Alternatives, each a list of comparisons that must all hold. */
export type VersionRange = readonly (readonly Comparison[])[];

const PARTS = /^v?(\d+|[xX*])(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/;
const COMPARISON = /^(=|!=|>|<|>=|=>|<=|=<|~|~>|\^)?([\dvxX*].*)$/;
const HYPHEN = /^(\S+)\s+-\s+(\S+)$/;

/**
 * Parses a range as Flux does, with the syntax of the Go library Masterminds/semver: `2.x`, `>=2.8 <2.10`, `~2.8`,
 * `^2`, `2.6 - 2.8`, and alternatives with `||`. Undefined: it is not one. (decision 50)
 */
export function versionRange(text: string): VersionRange | undefined {
  const alternatives = text.split('||').map(comparisonsOf);
  return alternatives.every((comparisons) => comparisons !== undefined) ? alternatives : undefined;
}

function comparisonsOf(text: string): Comparison[] | undefined {
  // Blanks may follow an operator, and a comma may separate comparisons.
  const comparisons = text
    .trim()
    .replace(HYPHEN, '>=$1 <=$2')
    .replace(/([=!<>~^])\s+/g, '$1')
    .split(/\s*,\s*|\s+/)
    .map(comparisonOf);
  return comparisons.every((comparison) => comparison !== undefined) ? comparisons : undefined;
}

function comparisonOf(text: string): Comparison | undefined {
  const [, operator = '', rest = ''] = COMPARISON.exec(text) ?? [];
  const parts = PARTS.exec(rest);
  if (parts === null) return undefined;
  const written = parts
    .slice(1, 4)
    .map((part) => (part === undefined || /[xX*]/.test(part) ? undefined : Number(part)));
  const given = written.includes(undefined) ? written.indexOf(undefined) : 3;
  const numbers = written.map((part, index) => (index < given ? (part ?? 0) : 0));
  return { operator, version: { numbers, pre: parts[4] ?? '' }, given };
}

/** Returns the problem with a range that is too long to be compared with every release. */
export function rangeProblem(range: VersionRange): string | undefined {
  const { most } = limits.comparisons;
  return range.flat().length > most ? `has more than ${most} comparisons; use fewer` : undefined;
}

/** Returns whether a range includes a release. A pre-release only if a comparison of the alternative names one. */
export function includesVersion(range: VersionRange, text: string): boolean {
  const exact = comparisonOf(text);
  return exact !== undefined && exact.given === 3 && includes(range, exact.version);
}

function includes(range: VersionRange, version: Version): boolean {
  return range.some(
    (comparisons) =>
      (version.pre === '' || comparisons.some((comparison) => comparison.version.pre !== '')) &&
      comparisons.every((comparison) => holds(comparison, version)),
  );
}

function holds({ operator, version: bound, given }: Comparison, version: Version): boolean {
  const order = compare(version, bound);
  /** Whether the first numbers are those of the bound. */
  const isSame = (count: number) => compareNumbers(version, bound, count) === 0;
  // Of `>2.8` and `<=2.8`, the bound is all of 2.8.
  const orderOfGiven = given === 3 ? order : compareNumbers(version, bound, given);
  switch (operator) {
    case '>':
      return orderOfGiven > 0;
    case '<=':
    case '=<':
      return orderOfGiven <= 0;
    case '!=':
      // `!=2.8` excludes no pre-releases.
      return orderOfGiven !== 0 || (given === 2 && version.pre !== bound.pre);
    case '<':
      return order < 0;
    case '>=':
    case '=>':
      return order >= 0;
    case '~':
    case '~>':
      return order >= 0 && (isSame(Math.min(given, 2)) || isZero(bound, given));
    case '^':
      return order >= 0 && isSame(Math.min(given, firstAboveZero(bound) + 1));
    default:
      return given === 3 ? order === 0 : order >= 0 && isSame(given);
  }
}

/** `~0.0.0` has no upper bound. */
function isZero({ numbers }: Version, given: number): boolean {
  return given === 3 && numbers.every((number) => number === 0);
}

/** `^0.2.3` stays below 0.3.0, because in a version with 0 the next number counts. */
function firstAboveZero({ numbers }: Version): number {
  const index = numbers.findIndex((number) => number > 0);
  return index === -1 ? 2 : index;
}

function compare(one: Version, other: Version): number {
  return compareNumbers(one, other, 3) || comparePreReleases(one.pre, other.pre);
}

function compareNumbers(one: Version, other: Version, count: number): number {
  const index = one.numbers.slice(0, count).findIndex((number, at) => number !== other.numbers[at]);
  return index === -1 ? 0 : (one.numbers[index] ?? 0) - (other.numbers[index] ?? 0);
}

/** Compares what follows the dash: a release is newer than its pre-releases; `rc.10` is newer than `rc.9`. */
export function comparePreReleases(one: string, other: string): number {
  if (one === '' || other === '') return Number(one === '') - Number(other === '');
  return one.localeCompare(other, 'en', { numeric: true });
}

/**
 * Returns whether some release could be in both ranges. Where ranges have a release in common, they have one that a
 * comparison of either names, or the next after it.
 */
export function haveCommonRelease(one: VersionRange, other: VersionRange): boolean {
  const named = [...one.flat(), ...other.flat()].flatMap(({ version: { numbers, pre } }) => {
    const [major = 0, minor = 0, patch = 0] = numbers;
    const following = [
      [major, minor, patch],
      [major, minor, patch + 1],
      [major, minor + 1, 0],
      [major + 1, 0, 0],
    ];
    return [
      { numbers, pre },
      { numbers: [0, 0, 0], pre: '' },
      ...following.map((next) => ({ numbers: next, pre: '' })),
    ];
  });
  return named.some((version) => includes(one, version) && includes(other, version));
}
