import { readFile } from 'node:fs/promises';
import { fileProblem, RetryableError } from '../errors.ts';
import type { TokenSource } from './connection.ts';

/** Projected tokens are replaced at 80 % of their lifetime, at least two minutes before they expire. */
const rereadAfterMs = 60_000;

/** Returns the token of a file that kubelet rotates (a projected token): reads it once a minute and after a 401. */
export function tokenFile(path: string, now: () => number = Date.now): TokenSource {
  let token = '';
  let readAt = Number.NEGATIVE_INFINITY;
  const current = async (refresh: boolean) => {
    if (!refresh && now() - readAt < rereadAfterMs) return token;
    try {
      token = (await readFile(path, 'utf8')).trim();
    } catch (error) {
      throw new RetryableError(`cannot read token file ${path}: ${fileProblem(error)}`);
    }
    readAt = now();
    return token;
  };
  return Object.assign(current, { origin: path });
}
