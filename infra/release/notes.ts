import { ShootFluxError } from '../../shared/errors.ts';

/** A version of a release: three numbers, and for a candidate what follows them. */
const VERSION = /^\d+\.\d+\.\d+(-[0-9A-Za-z]+(\.[0-9A-Za-z]+)*)?$/;

/** Refuses what cannot be a tag of an image and a version of a chart. */
export function checkVersion(version: string): void {
  if (!VERSION.test(version))
    throw new ShootFluxError(
      `${JSON.stringify(version)} is not a version; write it like 0.1.0 or 0.1.0-rc.1, without v.`,
    );
}

/**
 * Returns the notes of a release: its section of the changelog. A candidate has the unreleased section.
 * @throws ShootFluxError if there is none
 */
export function notesOf(changelog: string, version: string): string {
  const section = version.includes('-') ? 'Unreleased' : version;
  const parts = changelog.split(/^## /m).slice(1);
  const found = parts.find((part) => part.startsWith(`[${section}]`));
  if (found === undefined)
    throw new ShootFluxError(
      `CHANGELOG.md has no section [${section}]; rename the section [Unreleased] and give it the date of the release.`,
    );
  const [, ...lines] = found.split('\n');
  return `# shoot-flux ${version}\n\n${lines.join('\n').trim()}\n`;
}
