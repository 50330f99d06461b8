import { distributionAt } from '../../shared/flux/distribution.ts';
import { connectionOf, kubeconfigFiles } from '../../shared/kube/credentials.ts';
import type { Settings } from '../../shared/runtime/context.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import { createLog, type LogLevel } from '../../shared/runtime/log.ts';
import { startProduct } from '../process/product.ts';
import { untilSignal } from '../process/signals.ts';
import { command, exitCodes, UsageError } from './command.ts';
import { healthOptions, heartbeatOf } from './health-options.ts';
import { portOf } from './port.ts';
import { releasesOf } from './releases.ts';
import { webhookOptions, webhooksOf } from './webhook-options.ts';

export default command({
  name: 'run',
  summary: 'Run the whole product in one process: watcher, queues and functions.',
  options: {
    garden: { type: 'string', value: 'KUBECONFIG', description: 'Kubeconfig of the garden.' },
    seed: {
      type: 'string',
      multiple: true,
      value: 'NAME=KUBECONFIG',
      description: 'A seed to serve, by its name in the garden; may be given several times.',
    },
    'flux-distribution': { type: 'string', value: 'DIR', description: 'Folder with one folder per Flux release.' },
    port: { type: 'string', value: 'N', description: 'Serve /healthz, /readyz and /metrics on this port.' },
    ...webhookOptions,
    'sqs-endpoint': { type: 'string', value: 'URL', description: 'Use this SQS instead of the embedded one.' },
    landscape: {
      type: 'string',
      value: 'NAME',
      description: 'Shown in the comments of deploy keys; default gardener.',
    },
    'garden-identity': {
      type: 'string',
      value: 'ID',
      description: "The garden's cluster identity; default: taken from the Shoot.",
    },
    'shoot-access': {
      type: 'string',
      value: 'internal|external',
      description: 'Which address of a shoot is tried first; default internal inside a cluster, else external.',
    },
    delivery: {
      type: 'string',
      value: 'ManagedResource|Direct|Auto',
      description:
        "Who writes into the shoots: Gardener's resource-manager (default), shoot-flux itself, or that only where the resource-manager may not.",
    },
    ...healthOptions,
    'log-level': { type: 'string', value: 'LEVEL', description: 'debug, info, warn or error; default info.' },
  },
  notes: 'Logs are JSON lines on standard error. SIGTERM and SIGINT let runs end that are under way.',
  async run(values, _, terminal) {
    const garden = values.garden ?? missing('--garden KUBECONFIG');
    const seeds = seedsOf(values.seed ?? missing('--seed NAME=KUBECONFIG'));
    const fluxDistribution = values['flux-distribution'] ?? missing('--flux-distribution DIR');
    const files = Object.fromEntries([[GARDEN, garden], ...seeds]);
    // A cluster may be away when we start, but a kubeconfig that cannot be followed is a mistake of now.
    await Promise.all(Object.values(files).map(connectionOf));
    const releases = await releasesOf(distributionAt(fluxDistribution), fluxDistribution);
    const settings: Settings = {
      landscape: values.landscape ?? 'gardener',
      gardenIdentity: values['garden-identity'],
      seeds: seeds.map(([name]) => name),
      fluxDistribution,
      shootHealth: values['shoot-health'] === true,
      delivery: delivery(values.delivery),
      shootAccess: shootAccess(values['shoot-access']),
    };
    const heartbeat = heartbeatOf(values, settings.seeds);
    const webhooks = await webhooksOf(values);
    const log = createLog(logLevel(values['log-level']));
    // From the start: whoever asks it to end while it begins is heard too.
    const asked = untilSignal();
    const product = await startProduct({
      credentials: () => kubeconfigFiles(files),
      settings,
      log,
      port: portOf('--port', values.port),
      webhooks,
      heartbeat,
      sqsEndpoint: url(values['sqs-endpoint']),
    });
    const probes = product.port === undefined ? '' : `, probes and metrics on port ${product.port}`;
    const answers = product.webhookPort === undefined ? '' : `, webhooks on port ${product.webhookPort}`;
    terminal.err(
      `shoot-flux serves ${settings.seeds.join(', ')} with Flux ${releases.join(', ')}${probes}${answers}\n`,
    );
    const signal = await asked;
    log.info('stopping', { signal });
    await product.stop();
    return exitCodes.good;
  },
});

function missing(option: string): never {
  throw new UsageError(`${option} is missing`);
}

function seedsOf(texts: string[]): [string, string][] {
  const seeds = texts.map(seedOf);
  const twice = seeds.find(([name], index) => seeds.findIndex(([other]) => other === name) < index);
  if (twice !== undefined) throw new UsageError(`--seed ${twice[0]} is given twice`);
  return seeds;
}

function seedOf(text: string): [string, string] {
  const [, name, file] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name === undefined || file === undefined)
    throw new UsageError(`--seed ${text} is not of the form NAME=KUBECONFIG`);
  if (name === GARDEN) throw new UsageError(`a seed cannot be called ${GARDEN}`);
  return [name, file];
}

function url(text: string | undefined): string | undefined {
  if (text === undefined || URL.canParse(text)) return text;
  throw new UsageError(`--sqs-endpoint ${text} is not a URL such as http://127.0.0.1:4566`);
}

function delivery(text: string | undefined): Settings['delivery'] {
  const known = (['ManagedResource', 'Direct', 'Auto'] as const).find((value) => value === (text ?? 'ManagedResource'));
  if (known !== undefined) return known;
  throw new UsageError(`--delivery ${text} is none of ManagedResource, Direct and Auto`);
}

function shootAccess(text: string | undefined): Settings['shootAccess'] {
  if (text === 'internal' || text === 'external') return text;
  if (text !== undefined) throw new UsageError(`--shoot-access ${text} is neither internal nor external`);
  return process.env.KUBERNETES_SERVICE_HOST === undefined ? 'external' : 'internal';
}

function logLevel(text = 'info'): LogLevel {
  if (text === 'debug' || text === 'info' || text === 'warn' || text === 'error') return text;
  throw new UsageError(`--log-level ${text} is none of debug, info, warn, error`);
}
