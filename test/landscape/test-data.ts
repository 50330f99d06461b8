import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The setting that names the folder with test data. */
const SETTING = 'SHOOT_FLUX_TEST_DATA';
const checkout = join(import.meta.dirname, '../..');

/** The folder into which `npm run test:data` downloads. */
export const downloadFolder = process.env[SETTING] ? resolve(process.env[SETTING]) : join(checkout, '.test-data');

const beside = join(checkout, '../shared/data');

/**
 * The folder with data that is not in the repository: `flux/` with Flux releases, `gardener/` with Gardener's CRDs, and
 * recordings of its resource-manager. Default: `../shared/data` beside the checkout if it exists, else `.test-data`.
 */
const folder = process.env[SETTING] || !existsSync(beside) ? downloadFolder : beside;

/** Returns the path of test data; undefined where it is missing. */
export function testData(...path: string[]): string | undefined {
  const file = join(folder, ...path);
  return existsSync(file) ? file : undefined;
}

/** Why a test that needs Flux releases and Gardener's CRDs is skipped. */
export const testDataMissing = `skipped: no Flux releases and CRDs of Gardener in ${folder}: download them with npm run test:data, or set ${SETTING} to a folder that has them`;

/** Why a test that needs the recordings is skipped. */
export const recordingsMissing = `skipped: no recordings of the resource-manager in ${folder}: they cannot be downloaded; set ${SETTING} to a folder that has them`;
