import { readFile, writeFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { Ajv, type ErrorObject } from 'ajv';
import { parse } from 'yaml';
import { positiveDuration } from '../../../shared/config/checks.ts';
import { nearest } from '../../../shared/config/nearest.ts';
import { asObject } from '../../../shared/config/values.ts';
import { ConfigError, type ConfigIssue, fileProblem, ShootFluxError } from '../../../shared/errors.ts';
import { fieldsOf } from '../../../shared/shapes.ts';
import { readDocument } from '../../cli/read-file.ts';
import { flag, makeCommand, text } from '../../make-command.ts';
import { checkVersion } from '../../release/release.ts';
import { digestsIn, EXAMPLE, type Release, registration, type Settings } from './registration.ts';

const USAGE = `Usage: npm run registration -- [--version X] [--registry R] [options]

Prints the objects that register the extension with Gardener.

  --version X    Version of image and charts. Default: ${EXAMPLE.version}
  --registry R   Registry of image and charts, for example registry.example.com/gardener
  --values FILE  Values of the chart for seeds, as for Helm
  --digests FILE Digests of image and charts, as "npm run publish-release" writes them to PUBLISHED
  --resource NAME=KIND/OBJECT
                 ConfigMap or Secret in namespace garden to which values refer; may be repeated
  --inline       Contain the chart, for landscapes without a registry of charts
  --operator     Print the Extension for gardener-operator instead
  --out FILE     Write a file instead

Fields of Gardener:
  --auto-enable shoot            Every Shoot has the extension unless it disables it
  --cluster-compatibility shoot  Name the kind of cluster, which is Gardener's default
  --reconcile-timeout DURATION   How long gardenlet waits for an Extension, for example 5m. Gardener's default: 3m
  --policy POLICY                OnDemand, Always or AlwaysExceptNoShoots: which seeds get the chart. Default: OnDemand
`;

const options = {
  version: text,
  registry: { ...text, default: EXAMPLE.registry },
  ...{
    values: text,
    digests: text,
    resource: { ...text, multiple: true } as const,
    inline: flag,
    operator: flag,
    out: text,
  },
  ...{ 'auto-enable': text, 'cluster-compatibility': text, 'reconcile-timeout': text, policy: text },
};

/** Host, port and path, as they begin the name of an image. */
const REGISTRY = /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:\d+)?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*$/;

/**
 * Returns the release that a command line names.
 * @param values file with values of the chart for seeds; `-` is standard input
 * @throws ShootFluxError that names the wrong input
 */
export async function releaseOf({ version, registry }: Release, values?: string): Promise<Release> {
  checkVersion(version);
  if (!REGISTRY.test(registry)) {
    throw new ShootFluxError(
      `${JSON.stringify(registry)} is not a registry; write host and path like registry.example.com/gardener, without https:// and a slash at the end.`,
    );
  }
  return { version, registry, ...(values !== undefined && { values: await readValues(values) }) };
}

async function readValues(file: string): Promise<Record<string, unknown>> {
  const ignore = () => {};
  const terminal = { out: ignore, err: ignore, stdin: () => readAll(process.stdin), environment: {} };
  const document = await readDocument(file, terminal);
  if (document === null) {
    throw new ShootFluxError(`${file} is empty; write values of the chart into it, or leave --values out.`);
  }
  const values = asObject(document);
  if (values === undefined) {
    throw new ShootFluxError(`${file} is not an object with values of the chart; write them as for Helm.`);
  }
  const issues = await valuesIssues(file, values);
  if (issues.length > 0) throw new ConfigError(issues);
  return values;
}

/** What Gardener's fields take that have a fixed set of values. The extension is only for Shoots. */
const choices = {
  'auto-enable': ['shoot'],
  'cluster-compatibility': ['shoot'],
  policy: ['OnDemand', 'Always', 'AlwaysExceptNoShoots'],
};

/** @throws ShootFluxError for a value that Gardener or the extension does not take */
function settingsOf(given: Partial<Record<keyof typeof choices | 'reconcile-timeout', string>>): Settings {
  for (const [option, allowed] of Object.entries(choices)) {
    const value = given[option as keyof typeof choices];
    if (value !== undefined && !allowed.includes(value)) {
      throw new ShootFluxError(`--${option} cannot be ${JSON.stringify(value)}; use ${allowed.join(', ')}.`);
    }
  }
  const { 'auto-enable': auto, 'cluster-compatibility': compatible, 'reconcile-timeout': timeout, policy } = given;
  const issue = timeout === undefined ? undefined : positiveDuration(timeout);
  if (issue !== undefined) throw new ShootFluxError(`--reconcile-timeout ${issue}.`);
  return {
    ...(auto !== undefined && { autoEnable: [auto] }),
    ...(compatible !== undefined && { clusterCompatibility: [compatible] }),
    ...(timeout !== undefined && { reconcileTimeout: timeout }),
    ...(policy !== undefined && { policy }),
  };
}

/** @throws ShootFluxError for what Gardener does not take: it knows only letters and digits in names of references */
function resourceIn(value: string): [string, { kind: string; name: string }] {
  const [, reference, kind, name] = /^([A-Za-z0-9]+)=(ConfigMap|Secret)\/([a-z0-9][a-z0-9.-]*)$/.exec(value) ?? [];
  if (reference !== undefined && kind !== undefined && name !== undefined) return [reference, { kind, name }];
  throw new ShootFluxError(
    `--resource ${JSON.stringify(value)} names no object; write it like landscape=ConfigMap/shoot-flux-landscape, with only letters and digits before the equals sign.`,
  );
}

/** Gardener refuses values that refer to what is not named, and would only say so when the object is applied. */
function checkReferences(values: unknown, resources: Record<string, unknown>): void {
  const used = new Set(
    [...JSON.stringify(values ?? {}).matchAll(/\{\{ *\.resources\.(\w+)\./g)].map(([, name]) => name),
  );
  const missing = [...used].find((name) => name !== undefined && !Object.hasOwn(resources, name));
  if (missing !== undefined)
    throw new ShootFluxError(`values refer to .resources.${missing}; add --resource ${missing}=ConfigMap/NAME.`);
  const surplus = Object.keys(resources).find((name) => !used.has(name));
  if (surplus !== undefined)
    throw new ShootFluxError(
      `no value refers to .resources.${surplus}; correct --resource ${surplus}, or leave it out.`,
    );
}

async function readDigests(file: string): Promise<Map<string, string>> {
  const published = await readFile(file, 'utf8').catch((error) => {
    throw new ShootFluxError(`cannot read ${file}: ${fileProblem(error)}.`);
  });
  return digestsIn(published);
}

const DEFAULTS = new URL('../../../charts/shoot-flux/values.yaml', import.meta.url);
const SCHEMA = new URL('../../../charts/shoot-flux/values.schema.json', import.meta.url);

/**
 * Returns what the chart's schema refuses in a file of values, as Helm would in the seed: there the installation would
 * fail and the former version keep running.
 */
async function valuesIssues(file: string, values: object): Promise<ConfigIssue[]> {
  const ajv = new Ajv({ allErrors: true, verbose: true, strict: false });
  const validate = ajv.compile(JSON.parse(await readFile(SCHEMA, 'utf8')));
  const defaults = parse(await readFile(DEFAULTS, 'utf8'));
  return validate(withoutRemoved(values, defaults))
    ? []
    : (validate.errors ?? []).filter(isOwn).map((error) => issueOf(file, error));
}

/** With `null`, Helm removes a default before it looks at the schema. Another `null` is a value that it refuses. */
function withoutRemoved(values: object, defaults: Record<string, unknown> = {}): object {
  const kept = Object.entries(values).filter(([key, value]) => value !== null || !Object.hasOwn(defaults, key));
  return Object.fromEntries(
    kept.map(([key, value]) => [key, fieldsOf(value) ? withoutRemoved(value, fieldsOf(defaults[key])) : value]),
  );
}

/** Of a condition, the branch says what is wrong. */
const isOwn = ({ keyword }: ErrorObject) => keyword !== 'if';

function issueOf(object: string, { keyword, message, params, instancePath, parentSchema }: ErrorObject): ConfigIssue {
  const path = instancePath.split('/').slice(1);
  if (keyword === 'additionalProperties') {
    const name = String(params.additionalProperty);
    const close = nearest(name, Object.keys(parentSchema?.properties ?? {}));
    const remedy = close === undefined ? 'charts/shoot-flux/README.md lists all' : `did you mean ${close}?`;
    return { object, path: [...path, name].join('.'), message: `is not a value of the chart; ${remedy}` };
  }
  if (keyword === 'type')
    return { object, path: path.join('.'), message: `must be ${[params.type].flat().join(' or ')}` };
  const allowed = keyword === 'enum' ? `: ${params.allowedValues.join(', ')}` : '';
  return { object, path: path.join('.'), message: `${message}${allowed}` };
}

if (import.meta.main) {
  await makeCommand(
    USAGE,
    options,
    async ({ operator, inline, out, values, digests, resource, version, registry, ...fields }) => {
      if (digests !== undefined && version === undefined)
        throw new ShootFluxError('--digests are those of one release; name it with --version.');
      if (operator && inline) {
        throw new ShootFluxError('--operator and --inline exclude each other: gardener-operator pulls the charts.');
      }
      const named = await releaseOf({ version: version ?? EXAMPLE.version, registry }, values);
      const resources = Object.fromEntries((resource ?? []).map(resourceIn));
      checkReferences(named.values, resources);
      const release = {
        ...named,
        settings: settingsOf(fields),
        resources,
        ...(digests !== undefined && { digests: await readDigests(digests) }),
      };
      const content = await registration(release, operator ? 'operator' : inline ? 'inline' : 'pull');
      if (out === undefined) return content;
      await writeFile(out, content).catch((error) => {
        throw new ShootFluxError(`cannot write ${out}: ${fileProblem(error, 'folder')}.`);
      });
      return '';
    },
    2,
  );
}
