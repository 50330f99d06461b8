import { distributionAt } from '../../shared/flux/distribution.ts';
import { kubeconfigFiles } from '../../shared/runtime/clusters.ts';
import type { Settings } from '../../shared/runtime/context.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { startProduct } from '../process/product.ts';
import { untilSignal } from '../process/signals.ts';
import { clusterNotes, clusterOptions, clustersOf, missing } from './clusters.ts';
import { command, exitCodes, UsageError } from './command.ts';
import { healthOptions, heartbeatOf } from './health-options.ts';
import { logLevel } from './log-level.ts';
import { portOf } from './port.ts';
import { queueOptions, queuesOf } from './queue-options.ts';
import { checkReleases, releasesOf } from './releases.ts';
import { hostKeyScanOf, scanOptions } from './scan-options.ts';
import { webhookOptions, webhooksOf } from './webhook-options.ts';

/** Five times as many runs may wait for a network, each with its own connections. */
const MOST_CONCURRENCY = 1000;

export default command({
  name: 'run',
  summary: 'Run the whole product in one process: watcher, queues and functions.',
  options: {
    ...clusterOptions,
    'flux-distribution': {
      type: 'string',
      value: 'DIR',
      description: 'Folder with one folder per Flux release.',
      required: true,
    },
    port: {
      type: 'string',
      value: 'N',
      description: 'Serve /healthz, /readyz, /metrics and /dead-letters on this port.',
    },
    ...webhookOptions,
    ...queueOptions,
    concurrency: {
      type: 'string',
      value: 'N',
      description: 'Runs of each function at a time, 1 to 1000. Default: 20, or 10 with --sqs-endpoint.',
    },
    landscape: {
      type: 'string',
      value: 'NAME',
      description: 'Name of the landscape in the comments of deploy keys. Default: gardener.',
    },
    'garden-identity': {
      type: 'string',
      value: 'ID',
      description: "The garden's cluster identity. Default: taken from the Shoot.",
    },
    'shoot-access': {
      type: 'string',
      value: 'internal|external',
      description: 'Address of a shoot to try first. Default: internal inside a cluster, else external.',
    },
    delivery: {
      type: 'string',
      value: 'ManagedResource|Direct|Auto',
      description:
        'Who applies the objects to a shoot. ManagedResource (default): the resource-manager. Direct: shoot-flux. Auto: shoot-flux only where the resource-manager is not permitted.',
    },
    ...scanOptions,
    ...healthOptions,
    'log-level': { type: 'string', value: 'LEVEL', description: 'debug, info, warn or error. Default: info.' },
  },
  notes: `${clusterNotes}\nLogs are JSON lines on standard error. On SIGTERM and SIGINT, current runs finish first.`,
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
      hostKeyScan: hostKeyScanOf(values),
    };
    const heartbeat = heartbeatOf(values, settings.seeds);
    const webhooks = await webhooksOf(values);
    const log = createLog(logLevel(values['log-level']));
    // Registered first, so that a signal during the start is not lost.
    const signalled = untilSignal();
    const product = await startProduct({
      credentials: () => kubeconfigFiles(files),
      settings,
      log,
      port: portOf('--port', values.port),
      webhooks: webhooks && { ...webhooks, kubeconfigs: files },
      heartbeat,
      sqs: queuesOf(values),
      concurrency: concurrencyOf(values.concurrency),
    });
    const probes = product.port === undefined ? '' : `, probes and metrics on port ${product.port}`;
    const answers = product.webhookPort === undefined ? '' : `, webhooks on port ${product.webhookPort}`;
    terminal.err(
      `shoot-flux serves ${settings.seeds.join(', ')} with Flux ${releases.join(', ')}${probes}${answers}\n`,
    );
    const signal = await signalled;
    log.info('stopping', { signal });
    await product.stop();
    return exitCodes.success;
  },
});

function concurrencyOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text !== '' && Number.isInteger(number) && number >= 1 && number <= MOST_CONCURRENCY) return number;
  throw new UsageError(`--concurrency ${text} is not a whole number from 1 to ${MOST_CONCURRENCY}`);
}

function delivery(text: string | undefined): Settings['delivery'] {
  const known = (['ManagedResource', 'Direct', 'Auto'] as const).find((value) => value === (text ?? 'ManagedResource'));
  if (known !== undefined) return known;
  throw new UsageError(`--delivery ${text} is not ManagedResource, Direct or Auto`);
}

function shootAccess(text: string | undefined): Settings['shootAccess'] {
  if (text === 'internal' || text === 'external') return text;
  if (text !== undefined) throw new UsageError(`--shoot-access ${text} is not internal or external`);
  return process.env.KUBERNETES_SERVICE_HOST === undefined ? 'external' : 'internal';
}
