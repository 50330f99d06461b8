import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Gives a run of the tests a temporary folder of its own, so that also a suite that is ended leaves nothing behind. */
export default function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'shoot-flux-tests-'));
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
