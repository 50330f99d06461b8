import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { awsManifests, manifestsFolder } from '../aws/manifests.ts';
import { serviceCommands } from '../cli/cli.ts';
import { CHARTS, chartFiles } from '../gardener/chart/files.ts';
import { gardenerManifests } from '../gardener/manifests.ts';
import { EXAMPLES, registrationFiles } from '../gardener/registration/files.ts';
import { KNATIVE, knativeManifests } from '../knative/manifests.ts';
import { CONFIGURATION_PAGE, configurationPage } from './configuration.ts';
import { DECISIONS_PAGE, decisionsPage } from './decisions.ts';
import { OPTIONS_PAGE, optionsPage } from './options.ts';
import { POLICY_PAGE, policyPage } from './policy.ts';

/**
 * All generated files: the pages of configuration and options, the index of decisions, the functions'
 * manifests, those of charts and registrations.
 */
const manifests = Object.entries(await gardenerManifests());
const generated: [URL, string][] = [
  [CONFIGURATION_PAGE, configurationPage()],
  [POLICY_PAGE, policyPage()],
  [DECISIONS_PAGE, await decisionsPage()],
  ...Object.entries(await chartFiles()).map(([name, text]): [URL, string] => [new URL(name, CHARTS), text]),
  ...Object.entries(await registrationFiles()).map(([name, text]): [URL, string] => [new URL(name, EXAMPLES), text]),
  [OPTIONS_PAGE, optionsPage(await serviceCommands())],
  ...Object.entries(await knativeManifests()).map(([name, text]): [URL, string] => [new URL(name, KNATIVE), text]),
  ...manifests.map(([name, text]): [URL, string] => [new URL(`../gardener/${name}`, import.meta.url), text]),
  ...Object.entries(await awsManifests()).map(([name, text]): [URL, string] => [new URL(name, manifestsFolder), text]),
];

for (const [file, text] of generated) {
  const isCurrent = (await readFile(file, 'utf8').catch(() => '')) === text;
  await mkdir(new URL('./', file), { recursive: true });
  if (!isCurrent) await writeFile(file, text);
  process.stdout.write(`${fileURLToPath(file)} ${isCurrent ? 'is up to date' : 'written'}\n`);
}
