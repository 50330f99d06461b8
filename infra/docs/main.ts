import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { CHARTS, chartFiles } from '../gardener/chart/files.ts';
import { gardenerManifests } from '../gardener/manifests.ts';
import { CONFIGURATION_PAGE, configurationPage } from './configuration.ts';
import { DECISIONS_PAGE, decisionsPage } from './decisions.ts';

/** All generated files: the configuration page, the index of decisions, the manifests of the functions, and the charts'. */
const manifests = Object.entries(await gardenerManifests());
const generated: [URL, string][] = [
  [CONFIGURATION_PAGE, configurationPage()],
  [DECISIONS_PAGE, await decisionsPage()],
  ...Object.entries(await chartFiles()).map(([name, text]): [URL, string] => [new URL(name, CHARTS), text]),
  ...manifests.map(([name, text]): [URL, string] => [new URL(`../gardener/${name}`, import.meta.url), text]),
];

for (const [file, text] of generated) {
  const isCurrent = (await readFile(file, 'utf8').catch(() => '')) === text;
  if (!isCurrent) await writeFile(file, text);
  process.stdout.write(`${fileURLToPath(file)} ${isCurrent ? 'is up to date' : 'written'}\n`);
}
