/** The first Gardener whose resource-manager knows the flag (facts/gardener.md 3.5); older ones do not start with it. */
const FIRST = { major: 1, minor: 147 };

const VERSION = /^v?(\d+)\.(\d+)(?:\.(\d+))?(-.+)?$/;

/** Why the resource-manager of this image must not get the flag; undefined where it knows it. */
export function imageProblem(image: string): string | undefined {
  const tag = tagOf(image);
  const [, major, minor, patch, preRelease] = VERSION.exec(tag ?? '') ?? [];
  if (major === undefined || minor === undefined || Number(major) > LAST_MAJOR)
    return `its image ${image} does not tell a version`;
  return knowsFlag(Number(major), Number(minor), preRelease !== undefined && Number(patch ?? 0) === 0)
    ? undefined
    : `its version ${tag} is older than v${FIRST.major}.${FIRST.minor}`;
}

/** A greater one is the year of a date, which tells nothing. */
const LAST_MAJOR = 99;

/** A pre-release of the first version may come from before the flag. */
function knowsFlag(major: number, minor: number, isBeforeRelease: boolean): boolean {
  if (major !== FIRST.major) return major > FIRST.major;
  return minor > FIRST.minor || (minor === FIRST.minor && !isBeforeRelease);
}

/** `registry:5000/path/name:tag@digest`: a colon before the last slash is a port's. */
function tagOf(image: string): string | undefined {
  const name = image.split('@')[0]?.split('/').at(-1) ?? '';
  return name.split(':')[1];
}
