/** The first Gardener whose resource-manager supports the flag (rule 3); older ones do not start with it. */
const FIRST = { major: 1, minor: 147 };

const FIRST_VERSION = `v${FIRST.major}.${FIRST.minor}`;

const LONGEST_QUOTE = 200;

const VERSION = /^v?(\d+)\.(\d+)(?:\.(\d+))?(-.+)?$/;

/** A greater number is the year of a date, not a version. */
const LAST_MAJOR = 99;

/** Returns why the resource-manager of this image must not get the flag; undefined when it supports it. */
export function imageProblem(image: string): string | undefined {
  const tag = tagOf(image);
  const [, major, minor, patch = '0', suffix] = VERSION.exec(tag ?? '') ?? [];
  if (major === undefined || minor === undefined || Number(major) > LAST_MAJOR) {
    return tag === undefined ? `image ${cut(image)} has no tag` : `image tag ${cut(tag)} is not a version`;
  }
  const ahead = Number(major) - FIRST.major || Number(minor) - FIRST.minor;
  if (ahead < 0) return `image version ${cut(tag ?? '')} is older than ${FIRST_VERSION}`;
  const isFirst = ahead === 0 && Number(patch) === 0;
  return isFirst && suffix !== undefined
    ? `image version ${cut(tag ?? '')} may be older than ${FIRST_VERSION}.0`
    : undefined;
}

/** Reads the tag of `registry:5000/path/name:tag@digest`: a colon before the last slash belongs to the port. */
function tagOf(image: string): string | undefined {
  const name = image.split('@')[0]?.split('/').at(-1) ?? '';
  return name.split(':')[1];
}

/** The image is quoted in a warning and in the log. */
function cut(text: string): string {
  return text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text;
}
