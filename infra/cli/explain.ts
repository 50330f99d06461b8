import { readLandscape } from '../../shared/config/landscape.ts';
import { isHibernated } from '../../shared/gardener/operation.ts';
import { DNS_LABEL } from '../../shared/kube/resource.ts';
import { explainConfiguration, objectName, type Subject, type ValueFrom } from '../fleet/explain/configuration.ts';
import { explainDelivery } from '../fleet/explain/delivery.ts';
import { explainFlux, recordFrom } from '../fleet/explain/flux.ts';
import { chainText, type Link, linkOf } from '../fleet/explain/link.ts';
import { explainNext } from '../fleet/explain/next.ts';
import { explainOperation } from '../fleet/explain/operation.ts';
import { readGarden, readSeed, readShoot } from '../fleet/explain/read.ts';
import { isBad } from '../fleet/fleet.ts';
import { outputIn, printed } from '../fleet/print.ts';
import { openTarget, type Target, targetOptions } from '../fleet/target.ts';
import { columns, command, exitCodes } from './command.ts';
import { type Option, type Terminal, text, UsageError, type Values } from './option.ts';
import { readDocument } from './read-file.ts';
import { fromConfigFile } from './sources.ts';

const options = {
  ...targetOptions,
  'seed-kubeconfig': text('FILE', "Kubeconfig of the Shoot's seed, with the rights of an operator."),
  'shoot-kubeconfig': text('FILE', 'Kubeconfig of the shoot, or none: the shoot is not read.', {
    default: 'one of a viewer, or else of an admin, that the garden gives for ten minutes and nobody stores',
  }),
  config: text('FILE', 'A config file of run, whose keys defaults and policy apply as they do in the landscape.'),
  ...outputIn(['table', 'wide', 'json', 'yaml']),
} as const satisfies Record<string, Option>;

export default command({
  name: 'explain',
  summary: 'Show the chain from the configuration of a Shoot to its workload, and its first broken link.',
  positionals: 'SHOOT',
  options,
  notes:
    'Exit codes: 0 nothing is broken, 1 a link is broken or Flux is not Ready, 2 wrong usage, 3 these credentials do not show it.',
  async run({ output = 'table', ...values }, [name, ...more], terminal) {
    if (name === undefined || more.length > 0) throw new UsageError('name one Shoot');
    if (!DNS_LABEL.test(name)) throw new UsageError(`"${name}" is not the name of a Shoot`);
    using target = await openTarget(values, terminal.environment);
    const { namespace = '', flags } = target;
    const { line, links, layers, unseen } = await explained(target, { namespace, name, flags }, values, terminal);
    const broken = links.find(({ mark }) => mark === 'broken');
    const content = { namespace, name, broken: broken?.name ?? null, links, values: layers, unseen };
    if (!printed(output, 'Explanation', content, terminal)) {
      const [first, ...rest] = links;
      const withValues = { ...first, details: [...columns(layers.map(rowOf)), ...first.details] };
      terminal.out(chainText([withValues, ...rest], output === 'wide', terminal));
      if (unseen.length > 0) terminal.err(`Not seen: ${unseen.join(', ')}.\n`);
    }
    // The line may be behind what the shoot shows now.
    const isReady = line === undefined || !isBad(line);
    const isSeenReady = links.some((link) => link.name === 'Flux' && link.mark === 'ok');
    return broken === undefined && (isReady || isSeenReady) ? exitCodes.success : exitCodes.failure;
  },
});

/** A value, what it is, and where it comes from. */
const rowOf = (one: ValueFrom) => [one.name, one.value, [objectName(one), one.path].filter(Boolean).join(': ')];

/** Returns the links of the chain, which layer each value of the configuration comes from, and what was not seen. */
async function explained({ garden }: Target, subject: Subject, values: Values<typeof options>, terminal: Terminal) {
  const now = new Date();
  const { config: file, 'seed-kubeconfig': seedFile, 'shoot-kubeconfig': shootFile } = values;
  const landscape =
    file === undefined ? undefined : readLandscape(fromConfigFile(file, (await readDocument(file, terminal)) ?? {}));
  const seen = await readGarden(garden, subject, landscape);
  const { report, values: layers, config } = explainConfiguration(seen.layers, subject);
  const seed = await readSeed(seedFile, seen.shoot);
  const extension = typeof seed === 'string' ? undefined : seed.extension;
  const record = extension?.status?.state?.applied ?? recordFrom(config, seen.line?.flux);
  const isAsleep = seen.shoot !== undefined && isHibernated(seen.shoot);
  const shoot = isAsleep ? 'the Shoot is hibernated' : await readShoot(garden, subject, record, shootFile, now);
  const links: [Link, ...Link[]] = [
    linkOf('Configuration', report),
    linkOf('Operation', explainOperation({ ...seen, seed, isFluxSeen: typeof shoot !== 'string' }, subject, now)),
    linkOf('Delivery', typeof seed === 'string' ? seed : explainDelivery(seed)),
    linkOf('Flux', typeof shoot === 'string' ? shoot : explainFlux(shoot, record, now)),
    linkOf('Next', explainNext({ ...seen, extension }, subject, now)),
  ];
  const unseen: string[] = links.filter(({ mark }) => mark === 'unseen').map(({ name }) => name);
  if (typeof seen.layers !== 'string' && seen.layers.projectSecrets === undefined)
    unseen.push('the Secrets of the project (role of a member)');
  if (seen.isLineUnseen) unseen.push('ConfigMap flux-status (role of a member)');
  if (file === undefined) unseen.push("the landscape's defaults and policy (--config FILE)");
  return { line: seen.line, links, layers, unseen };
}
