import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { awsManifests, manifestsFolder } from '../aws/manifests.ts';
import { CHARTS, chartFiles } from '../gardener/chart/files.ts';
import { gardenerManifests } from '../gardener/manifests.ts';
import { EXAMPLES, registrationFiles } from '../gardener/registration/registration.ts';
import { KNATIVE, knativeManifests } from '../knative/manifests.ts';
import { schemaFiles } from './json-schema.ts';
import { DOCS, pages } from './pages.ts';

/** Every file that follows from the code, with its content. */
export async function generatedFiles(): Promise<[file: URL, text: string][]> {
  const folders: [URL, Record<string, string>][] = [
    [DOCS, await pages()],
    [DOCS, schemaFiles()],
    [CHARTS, await chartFiles()],
    [EXAMPLES, await registrationFiles()],
    [KNATIVE, await knativeManifests()],
    [new URL('../gardener/', import.meta.url), await gardenerManifests()],
    [manifestsFolder, await awsManifests()],
  ];
  return folders.flatMap(([folder, files]) =>
    Object.entries(files).map(([name, text]): [URL, string] => [new URL(name, folder), text]),
  );
}

if (import.meta.main) {
  for (const [file, text] of await generatedFiles()) {
    const isCurrent = (await readFile(file, 'utf8').catch(() => '')) === text;
    await mkdir(new URL('./', file), { recursive: true });
    if (!isCurrent) await writeFile(file, text);
    process.stdout.write(`${fileURLToPath(file)} ${isCurrent ? 'is up to date' : 'written'}\n`);
  }
}
