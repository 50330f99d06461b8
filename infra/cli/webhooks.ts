import { createClusters, kubeconfigFiles } from '../../shared/runtime/clusters.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { noMetrics } from '../../shared/runtime/metrics.ts';
import { findWebhooks } from '../functions.ts';
import { untilSignal } from '../process/signals.ts';
import type { AnswerDependencies } from '../webhooks/answer.ts';
import { startPlainServer } from '../webhooks/plain-server.ts';
import { clusterNotes, clusterOptions, clustersOf } from './clusters.ts';
import { command, exitCodes } from './command.ts';
import { logLevel } from './log-level.ts';
import { portOf } from './port.ts';

export default command({
  name: 'webhooks',
  summary: 'Serve the webhooks alone, over HTTP, behind a proxy that terminates TLS.',
  options: {
    ...clusterOptions,
    port: {
      type: 'string',
      value: 'N',
      description: 'Port to listen on. Default: the environment variable PORT, else 8080.',
    },
    'log-level': { type: 'string', value: 'LEVEL', description: 'debug, info, warn or error. Default: info.' },
  },
  notes: `${clusterNotes}\nFor a Knative Service, or any container behind a proxy. The paths are /admission and /resource-manager.`,
  async run(values, _, terminal) {
    const { files, seeds } = await clustersOf(values);
    const log = createLog(logLevel(values['log-level']));
    const signalled = untilSignal();
    const dependenciesOf = (name: string): AnswerDependencies => {
      const clusters = createClusters(kubeconfigFiles(files), { userAgent: `shoot-flux/${name}` });
      const kube: AnswerDependencies['kube'] = async (cluster, signal) => (await clusters(cluster)).with({ signal });
      return { kube, settings: { seeds }, metrics: noMetrics, log };
    };
    const functions = await findWebhooks();
    const served = functions.map((webhook) => ({ ...webhook, dependencies: dependenciesOf(webhook.definition.name) }));
    const server = await startPlainServer({ port: portFrom(values.port), served });
    const paths = functions.map(({ definition }) => definition.webhook.path).join(' and ');
    terminal.err(`shoot-flux serves ${paths} on port ${server.port}\n`);
    log.info('stopping', { signal: await signalled });
    await server.stop();
    return exitCodes.success;
  },
});

/** Knative and other platforms pass the port in `PORT`. */
function portFrom(option: string | undefined): number {
  return option === undefined
    ? portOf('the environment variable PORT', process.env.PORT || '8080')
    : portOf('--port', option);
}
