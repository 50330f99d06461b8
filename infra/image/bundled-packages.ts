import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Metafile } from 'esbuild';

/** A package with code in a bundle. */
export interface BundledPackage {
  name: string;
  version: string;
  /** Its licence files. */
  licences: string[];
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Returns the packages that a bundle was made of, sorted by name. */
export async function bundledPackages({ outputs }: Metafile): Promise<BundledPackage[]> {
  const files = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
  );
  const folders = new Set(files.flatMap((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []));
  const packages = await Promise.all([...folders].map(packageIn));
  const distinct = new Map(packages.map((one) => [`${one.name}@${one.version}`, one]));
  return [...distinct.values()].sort((a, b) => (`${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1));
}

async function packageIn(folder: string): Promise<BundledPackage> {
  const { name, version } = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8'));
  const files = (await readdir(join(root, folder))).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)).sort();
  const licences = await Promise.all(files.map((file) => readFile(join(root, folder, file), 'utf8')));
  return { name, version, licences };
}

/** Returns the text that goes with the bundle: its packages require their licences to be passed on. */
export function licenceText(packages: readonly BundledPackage[]): string {
  const parts = packages.map(({ name, version, licences }) =>
    [`${name} ${version}`, ...licences.map((text) => text.trim())].join('\n\n'),
  );
  return `${parts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}
