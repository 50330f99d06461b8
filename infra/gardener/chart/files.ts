import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { isMap, isNode, isScalar, type Pair, parse, parseDocument, type YAMLMap } from 'yaml';
import { ShootFluxError } from '../../../shared/errors.ts';
import type { Option } from '../../cli/option.ts';
import { serviceOptions } from '../../cli/options.ts';
import { keyOf } from '../../cli/sources.ts';
import { cell } from '../../docs/table.ts';
import { type AnyDefinition, findAllDefinitions, isWebhook, pushDefinition } from '../../functions.ts';
import { CONFIGURATION } from '../../webhooks/names.ts';
import { yaml } from '../manifests.ts';
import { admissionAlerts, alertsFile, seedAlerts } from '../monitoring/alerts.ts';
import { dashboardFile } from '../monitoring/dashboard.ts';
import { identitiesIn } from '../rbac.ts';
import { gardenRights } from '../registration/registration.ts';
import { webhookObjects } from '../webhooks.ts';
import {
  isLandscapeValue,
  landscapeDefinitions,
  landscapeKeys,
  landscapeRef,
  landscapeValue,
} from './landscape-schema.ts';

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
    [`${SEED_CHART}/webhooks.yaml`]: yaml([{ webhooks: webhooksIn(definitions, 'seed') }], WEBHOOKS),
    [`${SEED_CHART}/alerts.yaml`]: alertsFile(seedAlerts),
    [`${SEED_CHART}/dashboard.json`]: dashboardFile(),
    [`${ADMISSION_CHART}/runtime/alerts.yaml`]: alertsFile(admissionAlerts),
    [`${ADMISSION_CHART}/runtime/webhooks.yaml`]: admissionWebhooks(definitions),
    [`${ADMISSION_CHART}/runtime/templates/_shared.tpl`]: await sharedTemplates(folder),
    [`${ADMISSION_CHART}/application/webhooks.yaml`]: admissionWebhooks(definitions),
    [`${ADMISSION_CHART}/application/push-rights.yaml`]: yaml(
      [{ rules: pushDefinition.rights.garden }],
      'the rights in the garden of what answers Git hosts',
    ),
    [`${ADMISSION_CHART}/application/garden-rights.yaml`]: yaml(
      [{ objects: gardenRights(definitions) }],
      'the rights of installations in the garden',
    ),
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
  const isConfigured = all.some(({ path: [first] }) => first === 'config');
  return {
    [`${name}/values.schema.json`]: valuesSchema(all, isConfigured ? landscapeDefinitions() : {}),
    [`${name}/README.md`]: chartReadme(await read(name, 'Chart.yaml'), values),
  };
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
  return isLandscapeValue(name) ? { ...value, schema: landscapeValue(name), keys: landscapeKeys(name) } : value;
}

/** Generates a chart's README from its Chart.yaml and values. */
export function chartReadme(chartYaml: string, values: ChartValue[]): string {
  const { name, description, annotations } = parse(chartYaml);
  const rows = values.flatMap(({ path, description: meaning, default: value, keys = [] }) => [
    `| \`${path.join('.')}\` | ${cell(meaning)} | ${shown(value)} |`,
    ...keys.map((key) => `| \`${[...path, key.path].join('.')}\` | ${cell(key.description)} | ${cell(key.default)} |`),
  ]);
  return [
    `# ${name}`,
    `${description}. ${annotations?.['shoot-flux/documentation'] ?? ''}`.trim(),
    '<!-- Written by "npm run docs" from Chart.yaml and the comments in values.yaml. -->',
    ['| value | meaning | default |', '|---|---|---|', ...rows, ''].join('\n'),
  ].join('\n\n');
}

function shown(value: unknown): string {
  return value === '' ? 'empty' : `\`${cell(JSON.stringify(value))}\``;
}

/** Generates the file with the rights of each identity by its process, from which the templates render roles. */
function chartRights(definitions: AnyDefinition[]): string {
  const ofWebhooks = [...definitions.filter(isWebhook).map(({ name }) => name), 'webhooks'];
  const ofWatcher = ['watcher', 'heartbeat'];
  const identities = identitiesIn(definitions, 'seed');
  const rightsOf = (isChosen: (name: string) => boolean) =>
    Object.fromEntries(
      identities
        .filter(({ name }) => isChosen(name))
        .map(({ name, rules, own }) => [name, { ...(rules.length > 0 && { rules }), ...(own && { own }) }]),
    );
  const rights = {
    functions: rightsOf((name) => !ofWebhooks.includes(name) && !ofWatcher.includes(name)),
    watcher: rightsOf((name) => ofWatcher.includes(name)),
    webhooks: rightsOf((name) => ofWebhooks.includes(name)),
  };
  return yaml([rights], 'the rights of each identity in a seed');
}

type Schema = Record<string, unknown>;

/** Generates values.schema.json: types follow from the defaults, and unknown keys are errors, so typos are reported. */
export function valuesSchema(values: ChartValue[], definitions: Schema = {}): string {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...objectOf(values, 0),
    ...(Object.keys(definitions).length > 0 && { definitions }),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function objectOf(values: ChartValue[], depth: number): Schema {
  const names = [...new Set(values.map(({ path }) => path[depth] ?? ''))];
  const properties = names.map((name): [string, Schema] => {
    const below = values.filter(({ path }) => path[depth] === name);
    const [only] = below;
    const isLeaf = below.length === 1 && only?.path.length === depth + 1;
    return [name, isLeaf && only !== undefined ? leaf(only) : objectOf(below, depth + 1)];
  });
  // Helm adds `global`; a parent chart's values arrive there.
  const global = depth === 0 ? { global: { type: 'object' } } : {};
  return { type: 'object', additionalProperties: false, properties: { ...Object.fromEntries(properties), ...global } };
}

function leaf({ description, schema, default: value }: ChartValue): Schema {
  // Beside a reference, everything else is ignored.
  if ('$ref' in schema) return schema;
  return { description, ...('type' in schema || 'enum' in schema ? {} : { type: typeOf(value) }), ...schema };
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return 'integer';
  return value === null ? 'object' : typeof value;
}

const text = { type: ['string', 'number'] };

/** Keys that follow from other values, or must fit what the templates render: ports, probes, Services, mounts. */
const OF_CHARTS = [
  'port',
  'eventsPort',
  'sink',
  'webhookPort',
  'webhookFunction',
  'webhookConfiguration',
  'webhookSecret',
  'webhookCert',
  'webhookKey',
  'webhookCa',
];

/** Returns the JSON Schema of what a chart's values add to the config file: Helm reports a typo before a process does. */
function configSchema(): Schema {
  const properties: Record<string, Schema> = {};
  for (const [flag, option] of Object.entries(serviceOptions)) {
    const name = keyOf(flag, option);
    if (OF_CHARTS.includes(name)) continue;
    const own = () => ({ description: option.description, ...typeOfOption(option) });
    properties[name] = isLandscapeValue(name) ? landscapeRef(name) : own();
  }
  return { type: 'object', additionalProperties: false, properties };
}

function typeOfOption({ type, multiple, map }: Option): Schema {
  if (type === 'nested') return { type: 'object' };
  if (type === 'boolean') return { type: 'boolean' };
  if (map === true) return { type: 'object', additionalProperties: text };
  return multiple === true ? { type: ['array', 'string'], items: text } : text;
}

const WEBHOOKS = 'webhooks with their paths';

/** A webhook of a chart; the templates add how API servers reach its path. */
type ChartWebhook = Record<string, unknown> & { path: string };

/** Generates the webhooks of the garden. Their configuration is never updated, so other content gets another name. */
function admissionWebhooks(definitions: AnyDefinition[]): string {
  const webhooks = webhooksIn(definitions, 'garden');
  const hash = createHash('sha256').update(JSON.stringify(webhooks)).digest('hex').slice(0, 8);
  return yaml([{ configuration: `${CONFIGURATION}-${hash}`, webhooks }], WEBHOOKS);
}

function webhooksIn(definitions: AnyDefinition[], place: 'garden' | 'seed'): ChartWebhook[] {
  const objects = webhookObjects(definitions.filter(isWebhook), place, ({ path }) => ({ path }));
  const entries = objects.flatMap((object) => object.webhooks as (ChartWebhook & { clientConfig: ChartWebhook })[]);
  return entries.map(({ clientConfig: { path }, ...entry }) => ({ ...entry, path }));
}

interface ChartValue {
  /** Keys from the root, for example `['image', 'tag']`. */
  path: string[];
  /** The comment above the key. */
  description: string;
  default: unknown;
  /** What `# @schema {…}` adds to the value's JSON Schema. */
  schema: Record<string, unknown>;
  /** The keys of an object that is described elsewhere, by their path below the value. */
  keys?: { path: string; description: string; default: string }[];
}

/** Begins a comment line that is part of the schema rather than of the description. */
const SCHEMA = '@schema ';

/**
 * Reads the values of a chart. A key with a comment is one value; a key without a comment holds others.
 * @throws ShootFluxError for a key that is not described
 */
export function chartValues(yaml: string): ChartValue[] {
  const { contents } = parseDocument(yaml);
  return isMap(contents) ? valuesIn(contents, []) : [];
}

function valuesIn(map: YAMLMap, parents: string[]): ChartValue[] {
  return map.items.flatMap((pair, index) => {
    const path = [...parents, nameOf(pair)];
    // The parser gives the comment above the first key of an inner map to the map.
    const comment = commentOf(pair.key) ?? (index === 0 && parents.length > 0 ? map.commentBefore : undefined);
    const { value } = pair;
    if (comment) return [{ path, ...parts(comment), default: isNode(value) ? value.toJSON() : value }];
    if (isMap(value) && value.items.length > 0) return valuesIn(value, path);
    throw new ShootFluxError(`values.yaml: ${path.join('.')} has no comment; describe it in the lines above.`);
  });
}

function parts(comment: string): Pick<ChartValue, 'description' | 'schema'> {
  // A paragraph before belongs to the file.
  const lines = (comment.split(/\n\s*\n/).at(-1) ?? '').split('\n').map((line) => line.trim());
  const schemas = lines.filter((line) => line.startsWith(SCHEMA)).map((line) => JSON.parse(line.slice(SCHEMA.length)));
  const description = lines.filter((line) => !line.startsWith(SCHEMA)).join(' ');
  return { description, schema: Object.assign({}, ...schemas) };
}

const nameOf = ({ key }: Pair): string => (isScalar(key) ? String(key.value) : String(key));
const commentOf = (node: unknown) => (isScalar(node) ? node.commentBefore : undefined);
