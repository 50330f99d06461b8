import { IN_CLUSTER, kubeconfigFiles } from '../../shared/runtime/clusters.ts';
import { startProduct } from '../process/product.ts';
import { clusterNotes, clustersOf, heartbeatOf } from './clusters.ts';
import { service } from './command.ts';
import { usableReleases } from './distribution-inspect.ts';
import { distributionFolder } from './distribution-oci.ts';
import { clusterOptions, healthOptions, runOptions, settingsOptions, webhookOptions } from './options.ts';
import { settingsOf } from './settings.ts';
import { webhooksOf } from './webhook-options.ts';

export default service({
  name: 'run',
  summary: 'Run the whole product in one process: watcher, queue and functions.',
  options: {
    ...clusterOptions,
    ...settingsOptions,
    ...runOptions,
    ...webhookOptions,
    ...healthOptions,
  },
  notes: `${clusterNotes}\nLogs are JSON lines on standard error. On SIGTERM and SIGINT, current runs finish first.`,
  async start(values, _, terminal, log) {
    const served = await clustersOf(values);
    const { files, seeds } = served;
    const folder = await distributionFolder(values, terminal.environment);
    const settings = settingsOf({ ...values, 'flux-distribution': folder }, seeds, terminal.environment);
    const releases = await usableReleases(folder);
    const heartbeat = await heartbeatOf(values, served);
    const webhooks = await webhooksOf(values);
    const { port, concurrency } = values;
    const product = await startProduct({
      // The Secret of the webhooks' certificates may be in the cluster of this process.
      credentials: () => kubeconfigFiles({ [IN_CLUSTER]: IN_CLUSTER, ...files }),
      threadKubeconfigs: files,
      ...{ settings, log, port, webhooks, heartbeat, concurrency, releases },
    });
    const probes = product.port === undefined ? '' : `, probes and metrics on port ${product.port}`;
    const answers = product.webhookPort === undefined ? '' : `, webhooks on port ${product.webhookPort}`;
    const line = `serves ${seeds.join(', ')} with Flux ${releases.join(', ')}${probes}${answers}`;
    return { line, stop: product.stop };
  },
});
