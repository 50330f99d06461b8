import { IN_CLUSTER, kubeconfigFiles } from '../../shared/runtime/clusters.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { startProduct } from '../process/product.ts';
import { untilSignal } from '../process/signals.ts';
import { clusterNotes, clustersOf, heartbeatOf } from './clusters.ts';
import { command, exitCodes } from './command.ts';
import { clusterOptions, healthOptions, logOptions, runOptions, settingsOptions, webhookOptions } from './options.ts';
import { concurrencyOf, logLevelOf, portOf, settingsOf } from './settings.ts';
import { webhooksOf } from './webhook-options.ts';

export default command({
  name: 'run',
  summary: 'Run the whole product in one process: watcher, queue and functions.',
  options: {
    ...clusterOptions,
    ...settingsOptions,
    ...runOptions,
    ...webhookOptions,
    ...healthOptions,
    ...logOptions,
  },
  isService: true,
  notes: `${clusterNotes}\nLogs are JSON lines on standard error. On SIGTERM and SIGINT, current runs finish first.`,
  async run(values, _, terminal) {
    const served = await clustersOf(values);
    const { files, seeds } = served;
    const { settings, releases } = await settingsOf(values, seeds, terminal.environment);
    const heartbeat = await heartbeatOf(values, served);
    const webhooks = await webhooksOf(values);
    const log = createLog(logLevelOf(values));
    // Registered first, so that a signal during the start is not lost.
    const signalled = untilSignal();
    const product = await startProduct({
      // The Secret of the webhooks' certificates may be in the cluster of this process.
      credentials: () => kubeconfigFiles({ [IN_CLUSTER]: IN_CLUSTER, ...files }),
      threadKubeconfigs: files,
      settings,
      log,
      port: portOf(values, 'port'),
      webhooks,
      heartbeat,
      concurrency: concurrencyOf(values),
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
