import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Gives a run of the tests a temporary folder of its own, so that also a suite that is ended leaves nothing behind. */
export default function setup() {
  // A short name: the path of a socket in it, such as that of gpg-agent, may have 107 bytes.
  const folder = mkdtempSync(join(tmpdir(), 'sf-'));
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
