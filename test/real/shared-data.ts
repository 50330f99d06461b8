import { existsSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '..', '..', '..', 'shared', 'data');

/** Why a suite that needs such data is skipped where it is missing. */
export const sharedDataMissing = `skipped: the data of Flux and Gardener is not in ${folder}`;

/** Path of data that lies beside the repository rather than in it (Gardener's CRDs, Flux releases); undefined where it is not there. */
export function sharedData(...path: string[]): string | undefined {
  const wanted = join(folder, ...path);
  return existsSync(wanted) ? wanted : undefined;
}
