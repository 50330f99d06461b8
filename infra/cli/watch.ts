import { kubeconfigFiles } from '../../shared/runtime/clusters.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { untilSignal } from '../process/signals.ts';
import { startWatching } from '../process/watching.ts';
import { clusterNotes, watchedClustersOf } from './clusters.ts';
import { command, exitCodes } from './command.ts';
import { destinationOf } from './destination.ts';
import { heartbeatOf } from './health-options.ts';
import { logLevelOf } from './log-options.ts';
import { destinationOptions, heartbeatOptions, logOptions, probeOptions, watchedClusterOptions } from './options.ts';
import { portOf } from './port.ts';

export default command({
  name: 'watch',
  summary: 'Watch the garden, seeds or both, and send changes to functions that run elsewhere.',
  options: { ...watchedClusterOptions, ...destinationOptions, ...probeOptions, ...heartbeatOptions, ...logOptions },
  isService: true,
  notes: `${clusterNotes}\nSeveral may watch different clusters for the same functions; two for the same cluster do no harm.`,
  async run(values, _, terminal) {
    const watched = await watchedClustersOf(values);
    const { files, seeds } = watched;
    const clusters = { garden: files[GARDEN] !== undefined, seeds };
    const destination = destinationOf(values, terminal.environment);
    const heartbeat = await heartbeatOf(values, watched);
    const log = createLog(logLevelOf(values));
    const signalled = untilSignal();
    const watching = await startWatching({
      credentials: () => kubeconfigFiles(files),
      clusters,
      open: (definitions, own) => destination.open(definitions, seeds, own),
      log,
      port: portOf(values, 'port'),
      heartbeat,
    });
    const names = [...(clusters.garden ? ['the garden'] : []), ...seeds].join(', ');
    const probes = watching.port === undefined ? '' : `, probes and metrics on port ${watching.port}`;
    terminal.err(`shoot-flux watches ${names} and sends to ${destination.name}${probes}\n`);
    log.info('stopping', { signal: await signalled });
    await watching.stop();
    return exitCodes.success;
  },
});
