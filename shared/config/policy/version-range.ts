import { haveCommonRelease, versionRange } from '../version-range.ts';

/** Returns whether a release is in a list of releases and ranges, or a range has releases in common with it. */
export function isAllowedVersion(requested: string, allowed: readonly string[]): boolean {
  const range = versionRange(requested);
  return (
    range !== undefined &&
    allowed.some((entry) => {
      const permitted = versionRange(entry);
      return permitted !== undefined && haveCommonRelease(range, permitted);
    })
  );
}
