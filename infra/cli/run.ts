import { distributionAt } from '../../shared/flux/distribution.ts';
import { kubeconfigFiles } from '../../shared/runtime/clusters.ts';
import type { Settings } from '../../shared/runtime/context.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { startProduct } from '../process/product.ts';
import { untilSignal } from '../process/signals.ts';
import { clusterOptions, clustersOf, missing } from './clusters.ts';
import { command, exitCodes, UsageError } from './command.ts';
import { healthOptions, heartbeatOf } from './health-options.ts';
import { logLevel } from './log-level.ts';
import { portOf } from './port.ts';
import { checkReleases, releasesOf } from './releases.ts';
import { webhookOptions, webhooksOf } from './webhook-options.ts';

export default command({
  name: 'run',
  summary: 'Run the whole product in one process: watcher, queues and functions.',
  options: {
    ...clusterOptions,
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
    const { files, seeds } = await clustersOf(values);
    const fluxDistribution = values['flux-distribution'] ?? missing('--flux-distribution DIR');
    const releases = await releasesOf(distributionAt(fluxDistribution), fluxDistribution);
    await checkReleases(fluxDistribution, releases);
    const settings: Settings = {
      landscape: values.landscape ?? 'gardener',
      gardenIdentity: values['garden-identity'],
      seeds,
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
