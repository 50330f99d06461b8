import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buildTools } from '../tools/build.ts';
import { folderWith, runProgram } from '../tools/cache.ts';

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
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData };
  await using folder = await folderWith({ 'secret.yaml': JSON.stringify(secret), '.sops.yaml': rules });
  const env = { ...variables, PATH: `${dirname(sops)}:${process.env.PATH}` };
  await runProgram('sh', ['-c', command], folder.path, env);
  return await readFile(join(folder.path, 'secret.yaml'), 'utf8');
}
