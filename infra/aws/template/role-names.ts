import { ShootFluxError } from '../../../shared/errors.ts';

/** IAM takes so many characters. */
const LONGEST = 64;

/** @throws ShootFluxError when the name of a role would be too long, which AWS says only in the middle of a deployment */
export function checkRoleNames(start: string, functions: readonly string[]): void {
  const tooLong = functions.map((name) => `${start}${name}`).find((name) => name.length > LONGEST);
  if (tooLong === undefined) return;
  throw new ShootFluxError(
    `The role ${tooLong} would have ${tooLong.length} characters, and IAM takes ${LONGEST}; choose a shorter --param prefix or --stage.`,
  );
}
