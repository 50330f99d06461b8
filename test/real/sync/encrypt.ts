import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { buildTools } from '../tools/build.ts';

const run = promisify(execFile);

/** How a page says that manifests are encrypted. */
export interface Encryption {
  /** Encrypts `secret.yaml` in its folder. */
  command: string;
  /** The file `.sops.yaml` of a repository, with its public key. */
  rules: string;
  /** Further variables of the command. */
  env?: Record<string, string>;
}

/** Returns a Secret as SOPS writes it, which only the owner of the key can read. */
export async function encrypted(
  { command, rules, env: variables }: Encryption,
  name: string,
  stringData: Record<string, string>,
): Promise<string> {
  const { sops } = await buildTools(['sops']);
  const folder = await mkdtemp(join(tmpdir(), 'sops-'));
  try {
    const file = join(folder, 'secret.yaml');
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData };
    await writeFile(file, JSON.stringify(secret));
    await writeFile(join(folder, '.sops.yaml'), rules);
    const env = { ...process.env, ...variables, PATH: `${dirname(sops)}:${process.env.PATH}` };
    await run('sh', ['-c', command], { cwd: folder, env });
    return await readFile(file, 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
