import { GARDEN } from '../../shared/runtime/key.ts';
import { access } from '../doctor/access.ts';
import { examined, type Item, unknown, type Verdict } from '../doctor/finding.ts';
import { examineProcess } from '../doctor/process.ts';
import { resourceManagers } from '../doctor/resource-manager.ts';
import { rights } from '../doctor/rights.ts';
import { readShoots, servedSeeds, servers } from '../doctor/seeds.ts';
import { distribution, versions } from '../doctor/versions.ts';
import { webhooks } from '../doctor/webhooks.ts';
import { type Color, colored, outputIn, printed } from '../fleet/print.ts';
import { defaultSecret } from '../webhooks/managed-certificates.ts';
import { CONFIGURATION } from '../webhooks/names.ts';
import { clusterNotes, clustersOf, heartbeatOf } from './clusters.ts';
import { command, exitCodes } from './command.ts';
import { distributionFolder } from './distribution-oci.ts';
import { type FlagValue, type Terminal, text, type Values, type Variables } from './option.ts';
import { clusterOptions, healthOptions, runOptions, settingsOptions, webhookOptions } from './options.ts';
import { readDocument } from './read-file.ts';
import { fromAllSources } from './sources.ts';
import { secretOf } from './webhook-options.ts';

const options = {
  garden: clusterOptions.garden,
  seed: {
    ...clusterOptions.seed,
    required: undefined,
    description: 'A seed that is served, under its name in the garden. Repeatable.',
  },
  'flux-distribution': { ...settingsOptions['flux-distribution'], required: undefined },
  'distribution-cache': settingsOptions['distribution-cache'],
  'webhook-port': { ...webhookOptions['webhook-port'], description: 'The port of the webhooks: they are served.' },
  'webhook-secret': webhookOptions['webhook-secret'],
  'webhook-configuration': webhookOptions['webhook-configuration'],
  ...healthOptions,
  port: { ...runOptions.port, description: 'The port of run for /healthz, /readyz, /metrics and /dead-letters.' },
  url: text('URL', 'Address of the running process, as --port of run serves it, for example http://127.0.0.1:8080.', {
    default: 'inside a cluster, this host with --port',
    problem: (url) =>
      /^https?:/.test(url) && URL.canParse(url) ? undefined : 'is not a URL such as http://127.0.0.1:8080',
  }),
} as const;

const forms = outputIn(['table', 'json', 'yaml']);

export default command({
  name: 'doctor',
  summary: 'Examine a deployment: credentials, rights, webhooks, versions, queue. Changes nothing.',
  options: { ...options, config: text('FILE', 'Config file of the deployment.'), ...forms },
  notes: `${clusterNotes}
Takes the flags, environment variables and config file of run: in its Pod, no option is needed.
Exit codes: 0 nothing is wrong, 1 something is (✗), 2 wrong usage, 3 the garden does not answer these credentials.`,
  async run({ output = 'table', ...flags }, _, terminal) {
    const read = async (path: string) => (await readDocument(path, terminal)) ?? {};
    const sources = { flags: flags as Record<string, FlagValue>, environment: terminal.environment, read };
    const items = await examine(await fromAllSources(options, sources), terminal.environment);
    const counts = { '✔': 0, '✗': 0, '!': 0 };
    for (const { verdict } of items) counts[verdict]++;
    if (!printed(output, 'Doctor', { items, counts }, terminal)) terminal.out(textOf(items, counts, terminal));
    if (counts['✗'] === 0) return exitCodes.success;
    const isUnseen = ({ place, check, verdict }: Item) =>
      place === GARDEN && check === 'credentials' && verdict === '✗';
    return items.some(isUnseen) ? exitCodes.unseen : exitCodes.failure;
  },
});

const checks = {
  garden: { rights, versions, webhooks, seeds: servedSeeds },
  seed: { rights, versions, webhooks, 'resource-manager': resourceManagers, server: servers },
};

async function examine(values: Values<typeof options>, environment: Variables): Promise<Item[]> {
  const { 'flux-distribution': dir, 'webhook-port': webhookPort, port } = values;
  const { files, seeds } = await clustersOf(values, false);
  const configured = {
    ...{ seeds, now: new Date(), configuration: values['webhook-configuration'] ?? CONFIGURATION },
    certificates: webhookPort === undefined ? undefined : (secretOf(values) ?? defaultSecret),
    heartbeat: await heartbeatOf(values, { files, seeds }),
  };
  const seen = await Promise.all(Object.entries(files).map(([name, file]) => access(name, file)));
  const garden = seen.find(({ patient }) => patient?.place === GARDEN)?.patient;
  const shoots = garden === undefined ? Promise.resolve([]) : readShoots(garden.kube);
  const deployment = { ...configured, shoots };
  const ofCluster = async ({ items, patient }: Awaited<ReturnType<typeof access>>): Promise<Item[]> => {
    if (patient === undefined) return items;
    const found = await examined(patient.name, checks[patient.place], patient, deployment);
    patient.kube.close();
    return [...items, ...found];
  };
  const isInPod = environment.KUBERNETES_SERVICE_HOST !== undefined;
  const url = values.url ?? (isInPod && port ? `http://127.0.0.1:${port}` : undefined);
  const found = await Promise.all([
    ...seen.map(ofCluster),
    dir === undefined
      ? skipped('distribution', 'releases', '--flux-distribution DIR')
      : examined('distribution', {
          releases: async () =>
            distribution(await distributionFolder(values, environment), await shoots, deployment.now, dir),
        }),
    url === undefined ? skipped('process', 'queue', '--url URL') : examineProcess(url),
  ]);
  return found.flat();
}

const skipped = (place: string, check: string, option: string) =>
  examined(place, { [check]: async () => unknown(`Not checked without ${option}`) });

const colors: Record<Verdict, Color> = { '✔': 'green', '✗': 'red', '!': 'yellow' };

function textOf(items: Item[], counts: Record<Verdict, number>, terminal: Terminal): string {
  const lines = items.flatMap(({ verdict, place, check, sentence, remedy }) => [
    `${colored(verdict, colors[verdict], terminal)} ${place} ${check}: ${sentence.replace(/\.$/, '')}.`,
    ...(remedy === undefined ? [] : [`    ${remedy}`]),
  ]);
  return [...lines, '', `${counts['✔']} ✔, ${counts['✗']} ✗, ${counts['!']} !`, ''].join('\n');
}
