/** A release (`v2.9.4`) or a range of releases (`2.9.x`, `2.x`), parsed. */
interface Range {
  major: string;
  minor: string | undefined;
  /** The rest of an exact version, with its pre-release. */
  patch: string | undefined;
}

const RANGE = /^v?(\d+)\.(?:x|(\d+)\.(?:x|(\d+(?:-[0-9A-Za-z.-]+)?)))$/;

function rangeOf(text: string): Range | undefined {
  const match = RANGE.exec(text);
  return match === null ? undefined : { major: number(match[1]), minor: match[2] && number(match[2]), patch: match[3] };
}

/** `02` is `2`. */
function number(digits: string | undefined): string {
  return String(Number(digits));
}

/** Returns whether a release is in a list of releases and ranges, or a range has releases in common with it. */
export function isAllowedVersion(requested: string, allowed: readonly string[]): boolean {
  const range = rangeOf(requested);
  return range !== undefined && allowed.some((entry) => overlaps(rangeOf(entry), range));
}

/** Ranges include no pre-releases. */
function overlaps(one: Range | undefined, other: Range): boolean {
  if (one === undefined || one.major !== other.major) return false;
  if (one.minor === undefined) return !isPreRelease(other);
  if (other.minor === undefined) return !isPreRelease(one);
  if (one.minor !== other.minor) return false;
  if (one.patch === undefined) return !isPreRelease(other);
  if (other.patch === undefined) return !isPreRelease(one);
  return one.patch === other.patch;
}

function isPreRelease({ patch }: Range): boolean {
  return patch?.includes('-') ?? false;
}
