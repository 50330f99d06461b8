import { readdir, readFile } from 'node:fs/promises';
import { findAllDefinitions } from '../../functions.ts';
import { configSchema } from './config-schema.ts';
import { chartReadme } from './readme.ts';
import { chartRights } from './rights.ts';
import { valuesSchema } from './schema.ts';
import { type ChartValue, chartValues } from './values.ts';

/** The folder with one folder per chart. */
export const CHARTS = new URL('../../../charts/', import.meta.url);

/** The chart that runs the functions in a seed. */
const SEED_CHART = 'shoot-flux';

/** Generates the files of all charts that follow from other files: by path below the folder of charts. */
export async function chartFiles(folder = CHARTS): Promise<Record<string, string>> {
  const names = (await readdir(folder)).sort();
  const files = await Promise.all(names.map((name) => filesOf(name, folder)));
  const rights = chartRights(await findAllDefinitions());
  return { ...Object.assign({}, ...files), [`${SEED_CHART}/rights.yaml`]: rights };
}

async function filesOf(name: string, folder: URL): Promise<Record<string, string>> {
  const read = (file: string) => readFile(new URL(`${name}/${file}`, folder), 'utf8');
  const [chart, text] = await Promise.all([read('Chart.yaml'), read('values.yaml')]);
  const values = chartValues(text).map((value) => (isConfig(value) ? { ...value, schema: configSchema() } : value));
  return { [`${name}/values.schema.json`]: valuesSchema(values), [`${name}/README.md`]: chartReadme(chart, values) };
}

/** The value of every chart that holds the config file. */
const isConfig = ({ path }: ChartValue) => path.join('.') === 'config';
