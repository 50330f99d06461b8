import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { downloadFolder } from '@shoot-flux/landscape/test-data';
import { errorMessage } from '../../shared/errors.ts';
import { downloadTestData, parseChecksums } from './download.ts';

/** `npm run test:data`: downloads the Flux releases and CRDs of Gardener that the suites use. */
try {
  const checksums = parseChecksums(await readFile(join(import.meta.dirname, 'SHA256SUMS'), 'utf8'));
  const downloaded = await downloadTestData(downloadFolder, checksums, { exists: existsSync });
  const report = downloaded.length === 0 ? 'nothing to download' : `downloaded ${downloaded.join(', ')}`;
  process.stdout.write(`${downloadFolder}: ${report}\n`);
} catch (error) {
  process.stderr.write(`${errorMessage(error)}\n`);
  process.exitCode = 1;
}
