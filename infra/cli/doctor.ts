import { access } from '../doctor/access.ts';
import { examined, type Finding, type Item, type Patient, type Verdict } from '../doctor/finding.ts';
import { resourceManagers } from '../doctor/resource-manager.ts';
import { rights, usualWebhooks } from '../doctor/rights.ts';
import { webhooks } from '../doctor/webhooks.ts';
import { type Color, colored, type Output, outputOption, printed } from '../fleet/print.ts';
import { clusterNotes, clustersOf, heartbeatOf } from './clusters.ts';
import { command, exitCodes } from './command.ts';
import { type FlagValue, type Terminal, text, UsageError, type Values } from './option.ts';
import { clusterOptions, healthOptions, settingsOptions, webhookOptions } from './options.ts';
import { readDocument } from './read-file.ts';
import { fromAllSources } from './sources.ts';
import { secretOf } from './webhook-options.ts';

const options = {
  garden: clusterOptions.garden,
  seed: { ...clusterOptions.seed, description: 'A seed that is served, under its name in the garden. Repeatable.' },
  'flux-distribution': { ...settingsOptions['flux-distribution'], required: undefined },
  'webhook-port': webhookOptions['webhook-port'],
  'webhook-secret': webhookOptions['webhook-secret'],
  'webhook-configuration': webhookOptions['webhook-configuration'],
  ...healthOptions,
} as const;

type DoctorValues = Values<typeof options>;

export default command({
  name: 'doctor',
  summary: 'Examine a deployment: credentials, rights, webhooks, versions, queue. Changes nothing.',
  options: { ...options, config: text('FILE', 'Config file of the deployment.'), ...outputOption },
  notes: `${clusterNotes}
Takes the flags, environment variables and config file of run: in its Pod, no option is needed.
Exit codes: 0 nothing is wrong, 1 something is (✗), 2 wrong usage, 3 the garden does not answer these credentials.`,
  async run({ output = 'table', ...flags }, _, terminal) {
    if (output === 'name' || output === 'wide') throw new UsageError(`-o ${output} is not table, json or yaml`);
    const read = async (path: string) => (await readDocument(path, terminal)) ?? {};
    const sources = { flags: flags as Record<string, FlagValue>, environment: terminal.environment, read };
    const values: DoctorValues = await fromAllSources(options, sources);
    const items = await examine(values);
    show(items, output, terminal);
    const isGood = ({ verdict }: Item) => verdict !== '✗';
    if (!items.some(({ place, check }) => place === 'garden' && check === 'clock')) return exitCodes.unseen;
    return items.every(isGood) ? exitCodes.success : exitCodes.failure;
  },
});

type Examine = (patient: Patient) => Promise<Finding | Finding[]>;

async function examine(values: DoctorValues): Promise<Item[]> {
  const clusters = await clustersOf(values, false);
  const now = () => new Date();
  const isServed = values['webhook-port'] !== undefined;
  const configuration = values['webhook-configuration'] ?? usualWebhooks.configuration;
  const deployment = {
    heartbeat: await heartbeatOf(values, clusters),
    webhooks: isServed ? { secret: secretOf(values) ?? usualWebhooks.secret, configuration } : undefined,
  };
  const seen = await Promise.all(Object.entries(clusters.files).map(([name, file]) => access(name, file, now)));
  const patients = seen.flatMap(({ patient }) => patient ?? []);
  const checks = (patient: Patient): Promise<Item[]>[] => {
    const check = (name: string, examine: Examine) => examined(patient.name, name, () => examine(patient));
    const isSeed = patient.place === 'seed';
    return [
      check('rights', () => rights(patient, deployment)),
      check('webhooks', () => webhooks(patient, { configuration, isServed, now })),
      ...(isSeed ? [check('resource-manager', resourceManagers)] : []),
    ];
  };
  const found = await Promise.all(patients.flatMap(checks));
  for (const { kube } of patients) kube.close();
  return [...seen.flatMap(({ items }) => items), ...found.flat()];
}

const colors: Record<Verdict, Color> = { '✔': 'green', '✗': 'red', '!': 'yellow' };

function show(items: Item[], output: Output, terminal: Terminal): void {
  const counts = { '✔': 0, '✗': 0, '!': 0 };
  for (const { verdict } of items) counts[verdict]++;
  if (printed(output, 'Doctor', { items, counts }, terminal)) return;
  const lines = items.flatMap(({ verdict, place, check, sentence, remedy }) => [
    `${colored(verdict, colors[verdict], terminal)} ${place} ${check}: ${sentence.replace(/\.$/, '')}.`,
    ...(remedy === undefined ? [] : [`    ${remedy}`]),
  ]);
  const summary = `${counts['✔']} good, ${counts['✗']} bad, ${counts['!']} not known`;
  terminal.out(`${[...lines, '', summary].join('\n')}\n`);
}
