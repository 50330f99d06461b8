import { readdir, readFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import { type AnyDefinition, findAllDefinitions } from '../../functions.ts';
import { admissionAlerts, alertsFile, seedAlerts } from '../monitoring/alerts.ts';
import { dashboardFile } from '../monitoring/dashboard.ts';
import { gardenRights } from '../registration/garden-roles.ts';
import { configSchema } from './config-schema.ts';
import { isLandscapeValue, landscapeDefinitions, landscapeKeys, landscapeRef } from './landscape-schema.ts';
import { chartReadme } from './readme.ts';
import { chartRights } from './rights.ts';
import { valuesSchema } from './schema.ts';
import { type ChartValue, chartValues } from './values.ts';
import { admissionWebhooks, chartWebhooks } from './webhooks.ts';

/** The folder with one folder per chart. */
export const CHARTS = new URL('../../../charts/', import.meta.url);

/** The chart that runs the functions in a seed. */
const SEED_CHART = 'shoot-flux';

/** The folder with the parts of the admission chart, which are charts of their own. */
const ADMISSION_CHART = 'shoot-flux-admission/charts';

/** Templates of the chart for seeds that the admission chart uses, too: a chart cannot refer to another one's files. */
const shared = ['_helpers.tpl', 'monitoring/_enabled.tpl', 'webhooks/_certificate.tpl'];

/** Generates the files of all charts that follow from other files: by path below the folder of charts. */
export async function chartFiles(folder = CHARTS): Promise<Record<string, string>> {
  const names = (await readdir(folder)).sort();
  const files = await Promise.all([
    ...names.map((name) => filesOf([name], folder)),
    // gardener-operator passes the same values to both, so each knows those of the other.
    filesOf([`${ADMISSION_CHART}/runtime`, `${ADMISSION_CHART}/application`], folder),
    filesOf([`${ADMISSION_CHART}/application`, `${ADMISSION_CHART}/runtime`], folder),
  ]);
  const definitions = await findAllDefinitions();
  return {
    ...Object.assign({}, ...files),
    [`${SEED_CHART}/rights.yaml`]: chartRights(definitions),
    [`${SEED_CHART}/webhooks.yaml`]: chartWebhooks(definitions, 'seed'),
    [`${SEED_CHART}/alerts.yaml`]: alertsFile(seedAlerts),
    [`${SEED_CHART}/dashboard.json`]: dashboardFile(),
    [`${ADMISSION_CHART}/runtime/alerts.yaml`]: alertsFile(admissionAlerts),
    [`${ADMISSION_CHART}/runtime/webhooks.yaml`]: admissionWebhooks(definitions),
    [`${ADMISSION_CHART}/runtime/templates/_shared.tpl`]: await sharedTemplates(folder),
    [`${ADMISSION_CHART}/application/webhooks.yaml`]: admissionWebhooks(definitions),
    [`${ADMISSION_CHART}/application/garden-rights.yaml`]: chartGardenRights(definitions),
  };
}

/** Generates the files of the first chart, whose schema also permits the values of the others. */
async function filesOf(charts: [string, ...string[]], folder: URL): Promise<Record<string, string>> {
  const [name] = charts;
  const read = (chart: string, file: string) => readFile(new URL(`${chart}/${file}`, folder), 'utf8');
  const texts = await Promise.all(charts.map((chart) => read(chart, 'values.yaml')));
  const [values = [], ...others] = texts.map((text) => chartValues(text).map(described));
  const known = new Set(values.map(({ path }) => path.join('.')));
  const all = [...values, ...others.flat().filter(({ path }) => !known.has(path.join('.')))];
  return {
    [`${name}/values.schema.json`]: valuesSchema(all, isConfigured(all) ? landscapeDefinitions() : {}),
    [`${name}/README.md`]: chartReadme(await read(name, 'Chart.yaml'), values),
  };
}

function chartGardenRights(definitions: AnyDefinition[]): string {
  const title =
    '# Written by "npm run docs" from the functions\' definitions: the rights of installations in the garden.\n';
  return `${title}${stringify({ objects: gardenRights(definitions) }, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}

async function sharedTemplates(folder: URL): Promise<string> {
  const read = (file: string) => readFile(new URL(`${SEED_CHART}/templates/${file}`, folder), 'utf8');
  const title = `{{/* Written by "npm run docs" from templates of the chart ${SEED_CHART}. */}}\n`;
  return `${title}${(await Promise.all(shared.map(read))).join('\n')}`;
}

/** The values that hold the config file, or the landscape's part of it, have its schema. */
function described(value: ChartValue): ChartValue {
  const name = value.path.join('.');
  if (name === 'config') return { ...value, schema: configSchema() };
  return isLandscapeValue(name) ? { ...value, schema: landscapeRef(name), keys: landscapeKeys(name) } : value;
}

const isConfigured = (values: ChartValue[]) => values.some(({ path: [name] }) => name === 'config');
