import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildTools } from '../tools/build.ts';

const run = promisify(execFile);

/** Returns a Secret as SOPS writes it, which only the owner of the key of age can read. */
export async function encrypted(recipient: string, name: string, stringData: Record<string, string>): Promise<string> {
  const { sops } = await buildTools(['sops']);
  const folder = await mkdtemp(join(tmpdir(), 'sops-'));
  try {
    const file = join(folder, 'secret.yaml');
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData };
    await writeFile(file, JSON.stringify(secret));
    const which = ['--encrypted-regex', '^(data|stringData)$', '--output-type', 'yaml'];
    return (await run(sops, ['encrypt', '--age', recipient, ...which, file])).stdout;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
