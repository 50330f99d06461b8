import { effectiveConfig } from '../../shared/config/effective-config.ts';
import { readLandscape } from '../../shared/config/landscape.ts';
import { isHibernated } from '../../shared/gardener/operation.ts';
import type { Applied, Extension } from '../../shared/gardener/types.ts';
import { DNS_LABEL } from '../../shared/kube/resource.ts';
import { explainChecked } from '../fleet/explain/checked.ts';
import { type Explained, explainConfiguration, type Subject, valueRows } from '../fleet/explain/configuration.ts';
import { explainDelivery } from '../fleet/explain/delivery.ts';
import { explainFlux, recordFrom } from '../fleet/explain/flux.ts';
import { chainText, firstBroken, type Link, unseenLink } from '../fleet/explain/link.ts';
import { explainNext } from '../fleet/explain/next.ts';
import { explainOperation } from '../fleet/explain/operation.ts';
import { type Garden, readGarden, readLayers, readSeed, readShoot, type Seed } from '../fleet/explain/read.ts';
import { printed } from '../fleet/print.ts';
import { openTarget, type Target, targetOptions } from '../fleet/target.ts';
import { command, exitCodes } from './command.ts';
import { type Option, type Terminal, text, UsageError, type Values, word } from './option.ts';
import { readDocument } from './read-file.ts';
import { fromConfigFile } from './sources.ts';

const options = {
  ...targetOptions,
  'seed-kubeconfig': text('FILE', "Kubeconfig of the Shoot's seed, with an operator's rights: shows the delivery."),
  'shoot-kubeconfig': text('FILE', 'Kubeconfig of the shoot.', {
    default: 'one that the garden gives for ten minutes, of a viewer or else of an admin, which is not stored',
  }),
  'garden-only': { type: 'boolean', description: 'Ask for no kubeconfig of the shoot.' },
  config: text('FILE', 'A config file of run, whose keys defaults and policy apply as they do in the landscape.'),
  output: { ...word(['table', 'wide', 'json', 'yaml'], 'Form of the output.'), short: 'o' },
} as const satisfies Record<string, Option>;

export default command({
  name: 'explain',
  summary: 'Show the chain from the configuration of a Shoot to its workload, and its first broken link.',
  positionals: 'SHOOT',
  options,
  notes:
    'Exit codes: 0 nothing is broken, 1 a link is broken or Flux is not Ready, 2 wrong usage, 3 these credentials do not show it.',
  async run(values, [name, ...more], terminal) {
    if (name === undefined || more.length > 0) throw new UsageError('name one Shoot');
    if (!DNS_LABEL.test(name)) throw new UsageError(`"${name}" is not the name of a Shoot`);
    using target = await openTarget(values, terminal.environment);
    const { namespace = '', kubectl } = target;
    const subject: Subject = { namespace, name, kubectl };
    const garden = await readGarden(target.garden, subject);
    const { links, values: layers, unseen } = await explainChain(target, garden, subject, values, terminal);
    const broken = firstBroken(links);
    const output = values.output ?? 'table';
    const content = { namespace, name, broken: broken?.name ?? null, links, values: layers, unseen };
    if (!printed(output, 'Explanation', content, terminal)) {
      const [first, ...rest] = links;
      const withValues = { ...first, details: [...valueRows(layers), ...first.details] };
      terminal.out(chainText([withValues, ...rest], output === 'wide', terminal));
      if (unseen.length > 0) terminal.err(`Not seen: ${unseen.join(', ')}.\n`);
    }
    // The line may be behind what the shoot shows now.
    const isReady = garden.line?.state !== 'Not Ready' && garden.line?.state !== 'Progressing';
    const isSeenReady = links.some((link) => link.name === 'Flux' && link.mark === 'ok');
    return broken === undefined && (isReady || isSeenReady) ? exitCodes.success : exitCodes.failure;
  },
});

/** The links, where the values of the configuration come from, and what could not be seen. */
interface Chain {
  links: [Link, ...Link[]];
  values: Explained['values'];
  unseen: string[];
}

async function explainChain(
  target: Target,
  garden: Garden,
  subject: Subject,
  values: Values<typeof options>,
  terminal: Terminal,
): Promise<Chain> {
  const now = new Date();
  const configuration = await configurationOf(target, garden, subject, values.config, terminal);
  const seed = await seedOf(garden, values['seed-kubeconfig']);
  const extension = typeof seed === 'string' ? undefined : seed.extension;
  const known = extension === 'missing' ? undefined : extension;
  const record =
    known?.status?.state?.applied ?? recordFrom(configuration.config ?? effectiveConfig({}), garden.line?.flux);
  const seedFlags = values['seed-kubeconfig'] === undefined ? [] : ['--kubeconfig', values['seed-kubeconfig']];
  const flux = await fluxOf(target, garden, subject, { extension: known, record, seedFlags }, values, now);
  const delivery =
    typeof seed === 'string'
      ? unseenLink('Delivery', seed)
      : explainDelivery(
          seed.managedResources,
          known?.status?.state?.applied,
          garden.shoot?.status?.technicalID ?? '',
          seedFlags,
        );
  const isFluxSeen = flux.mark !== 'unseen';
  const links: Chain['links'] = [
    configuration.link,
    explainOperation({ ...garden, extension, isFluxSeen }, subject, seedFlags, now),
    delivery,
    flux,
    explainNext({ ...garden, extension: known }, subject, now),
  ];
  const unseen = links.flatMap(({ name, mark }) => (mark === 'unseen' ? [name] : []));
  const defaults = "the landscape's defaults and policy (--config FILE)";
  return {
    links,
    values: configuration.values,
    unseen: [...unseen, ...(values.config === undefined ? [defaults] : [])],
  };
}

async function configurationOf(
  target: Target,
  garden: Garden,
  subject: Subject,
  file: string | undefined,
  terminal: Terminal,
): Promise<Explained> {
  const document = file === undefined ? undefined : ((await readDocument(file, terminal)) ?? {});
  const landscape = file === undefined ? undefined : readLandscape(fromConfigFile(file, document));
  const layers = await readLayers(target.garden, garden, landscape, subject.namespace);
  if (typeof layers !== 'string') return explainConfiguration(layers, subject);
  return {
    link: unseenLink('Configuration', `${layers}; ask for the role of a member`),
    values: [],
    config: undefined,
  };
}

async function seedOf({ shoot }: Garden, file: string | undefined): Promise<Seed | string> {
  if (file === undefined) return 'it is in the seed; --seed-kubeconfig FILE of an operator shows it';
  if (shoot === undefined) return 'these credentials may not read the Shoot, which names its control plane';
  const seed = await readSeed(file, shoot);
  return typeof seed === 'string' ? `${seed}; check --seed-kubeconfig` : seed;
}

interface Known {
  extension: Extension | undefined;
  /** What the shoot should have. */
  record: Applied;
  seedFlags: readonly string[];
}

async function fluxOf(
  { connection }: Target,
  { shoot }: Garden,
  subject: Subject,
  { extension, record, seedFlags }: Known,
  { 'shoot-kubeconfig': file, 'garden-only': isGardenOnly = false }: Values<typeof options>,
  now: Date,
): Promise<Link> {
  const read = async () => {
    if (shoot !== undefined && isHibernated(shoot)) return 'the Shoot is hibernated';
    if (isGardenOnly && file === undefined) return 'it is in the shoot, and --garden-only asks for no kubeconfig';
    const seen = await readShoot(connection, subject, record, file, now);
    if (typeof seen !== 'string') return seen;
    return `${seen}; ${file === undefined ? 'pass --shoot-kubeconfig FILE, or ask for the role viewer or admin of the project' : 'check --shoot-kubeconfig'}`;
  };
  const seen = await read();
  if (typeof seen !== 'string') return explainFlux(seen.flux, record, seen.how, seen.flags, now);
  return extension === undefined ? unseenLink('Flux', seen) : explainChecked(extension, seen, seedFlags);
}
