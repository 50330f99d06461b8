import { fluxConfigMapOf } from '../../shared/config/flux-config-map.ts';
import { readLandscape } from '../../shared/config/landscape.ts';
import { FLUX_CONFIG } from '../../shared/config/project-config.ts';
import { projectSecretOf } from '../../shared/config/project-secret-content.ts';
import { neededProjectSecrets } from '../../shared/config/project-secrets.ts';
import { shootResourcesOf } from '../../shared/config/shoot-resources.ts';
import type { ConfigInputs, Landscape } from '../../shared/config/types.ts';
import { ShootFluxError } from '../../shared/errors.ts';
import { shootTraits } from '../../shared/gardener/shoot-facts.ts';
import { findStatusMap, isOwn, type Line, publishedLine } from '../../shared/gardener/status-map.ts';
import { EXTENSION_TYPE, type Shoot } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { ForbiddenError } from '../../shared/kube/errors.ts';
import { DNS_LABEL, type KubeObject, resources } from '../../shared/kube/resource.ts';
import { type Explained, explainConfiguration, type Subject } from '../fleet/explain/configuration.ts';
import { chainText, firstBroken, unseenLink } from '../fleet/explain/link.ts';
import { explainOperation } from '../fleet/explain/operation.ts';
import { missingRight } from '../fleet/fleet.ts';
import { printed } from '../fleet/print.ts';
import { openTarget, targetOptions } from '../fleet/target.ts';
import { command, exitCodes } from './command.ts';
import { shootCluster } from './inputs.ts';
import { type Option, type Terminal, text, UsageError, word } from './option.ts';
import { readDocument } from './read-file.ts';
import { fromConfigFile } from './sources.ts';

const options = {
  ...targetOptions,
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
    const { garden, namespace = '', kubectl } = target;
    const subject: Subject = { namespace, name, kubectl };
    const seen = await readGarden(garden, subject);
    const landscape = values.config === undefined ? undefined : await readLandscapeOf(values.config, terminal);
    const configuration = await explainLayers(garden, seen, landscape, subject);
    const links = [
      configuration.link,
      explainOperation({ ...seen, extension: undefined, isFluxSeen: false }, subject, [], new Date()),
    ];
    const broken = firstBroken(links);
    const content = { namespace, name, broken: broken?.name ?? null, links, values: configuration.values };
    const output = values.output ?? 'table';
    if (!printed(output, 'Explanation', content, terminal)) terminal.out(chainText(links, output === 'wide', terminal));
    const isBad = seen.line?.state === 'Not Ready' || seen.line?.state === 'Progressing';
    return broken !== undefined || isBad ? exitCodes.failure : exitCodes.success;
  },
});

/** An object, or that it may not be read. */
type Looked = { isAllowed: boolean; object?: KubeObject | undefined };

async function look(answer: Promise<KubeObject | undefined>): Promise<Looked> {
  try {
    return { isAllowed: true, object: await answer };
  } catch (error) {
    if (error instanceof ForbiddenError) return { isAllowed: false };
    throw error;
  }
}

/** What the garden shows of a Shoot. */
interface Garden {
  shoot: Shoot | undefined;
  line: Line | undefined;
  fluxConfig: Looked;
}

/** @throws UnseenError where neither the Shoot nor its line may be read, ShootFluxError where it does not exist */
async function readGarden(garden: KubeClient, { namespace, name }: Subject): Promise<Garden> {
  const [shoot, map, fluxConfig] = await Promise.all([
    look(garden.find(resources.shoots, { namespace, name })),
    look(findStatusMap(garden, namespace)),
    look(garden.find(resources.configMaps, { namespace, name: FLUX_CONFIG })),
  ]);
  if (!shoot.isAllowed && !map.isAllowed) throw missingRight(`read Shoot ${name}`, namespace);
  const line = map.object && isOwn(map.object) ? publishedLine(map.object, name) : undefined;
  if (shoot.object === undefined && (shoot.isAllowed || line === undefined)) {
    throw new ShootFluxError(`Shoot ${namespace}/${name} does not exist; check its name and its project`);
  }
  return { shoot: shoot.object as Shoot | undefined, line, fluxConfig };
}

async function readLandscapeOf(file: string, terminal: Terminal): Promise<Landscape> {
  return readLandscape(fromConfigFile(file, (await readDocument(file, terminal)) ?? {}));
}

async function explainLayers(
  garden: KubeClient,
  { shoot, fluxConfig: { isAllowed, object } }: Garden,
  landscape: Landscape | undefined,
  subject: Subject,
): Promise<Explained> {
  const { namespace } = subject;
  if (!isAllowed || shoot === undefined) {
    const what = isAllowed ? 'Shoots' : `ConfigMap ${FLUX_CONFIG}`;
    return {
      link: unseenLink('Configuration', `a member of the project may read ${what}`),
      values: [],
      config: undefined,
    };
  }
  const inputs: ConfigInputs = {
    landscape,
    ...(object !== undefined && { fluxConfig: fluxConfigMapOf(namespace, object) }),
    shoot: shootTraits(shootCluster(shoot)),
    providerConfig: shoot.spec?.extensions?.find(({ type }) => type === EXTENSION_TYPE)?.providerConfig,
    shootResources: shootResourcesOf(shoot.spec?.resources),
  };
  const projectSecrets = await readProjectSecrets(garden, namespace, inputs);
  return explainConfiguration({ ...inputs, projectSecrets }, subject);
}

/** Returns what the configuration may know of the Secrets of the project; undefined where they may not be read. */
async function readProjectSecrets(garden: KubeClient, namespace: string, inputs: ConfigInputs) {
  const looks = neededProjectSecrets(inputs).map(async (name) => ({
    name,
    ...(await look(garden.find(resources.secrets, { namespace, name }))),
  }));
  const secrets = await Promise.all(looks);
  if (secrets.some(({ isAllowed }) => !isAllowed)) return undefined;
  return secrets.flatMap(({ name, object }) =>
    object === undefined ? [] : [projectSecretOf(name, namespace, object)],
  );
}
