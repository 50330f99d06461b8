import { sinkAt } from '../../events/cloudevents/sink.ts';
import type { QueueFunction } from '../../events/run/runner.ts';
import { kubeconfigFiles } from '../../shared/runtime/clusters.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { findDefinitions, findNamedFunctions } from '../functions.ts';
import { startServing } from '../knative/serving.ts';
import { untilSignal } from '../process/signals.ts';
import { clusterNotes, clustersOf, missing } from './clusters.ts';
import { command, exitCodes } from './command.ts';
import { UsageError } from './option.ts';
import { clusterOptions, healthOptions, logOptions, serveOptions, settingsOptions, sinkOptions } from './options.ts';
import { concurrencyOf, logLevelOf, portOf, settingsOf } from './settings.ts';

/** Knative passes another one in `PORT`. */
const HTTP_PORT = 8080;

export default command({
  name: 'serve',
  summary: 'Serve functions over HTTP: each CloudEvent with a change is one run, or joins one.',
  positionals: 'FUNCTION…',
  options: {
    ...clusterOptions,
    ...settingsOptions,
    sink: { ...sinkOptions.sink, required: true },
    ...serveOptions,
    'shoot-health': healthOptions['shoot-health'],
    ...logOptions,
  },
  isService: true,
  notes: `${clusterNotes}\nFor a Knative Service behind a Trigger. Answers 204 for a run that succeeded, 503 for one that may succeed later, 400 and 422 for what never will. On SIGTERM, events under way are finished first.`,
  async run(values, names, terminal) {
    const functions = await functionsOf(names);
    const url = values.sink ?? missing('--sink URL');
    const { files, seeds } = await clustersOf(values);
    const { settings, releases } = await settingsOf(values, seeds, terminal.environment);
    const log = createLog(logLevelOf(values));
    // Registered first, so that a signal during the start is not lost.
    const signalled = untilSignal();
    const serving = await startServing({
      functions,
      credentials: () => kubeconfigFiles(files),
      settings,
      sink: sinkAt(url, terminal.environment),
      port: portOf(values, 'port') ?? HTTP_PORT,
      concurrency: concurrencyOf(values),
      log,
    });
    terminal.err(
      `shoot-flux serves ${names.join(', ')} for ${seeds.join(', ')} with Flux ${releases.join(', ')}, events and metrics on port ${serving.port}\n`,
    );
    log.info('stopping', { signal: await signalled });
    await serving.stop();
    return exitCodes.success;
  },
});

/** @throws UsageError */
async function functionsOf(names: string[]): Promise<QueueFunction[]> {
  if (names.length === 0) throw new UsageError('name at least one function, such as managed-resources');
  const known = await findNamedFunctions(names);
  if (known.length === new Set(names).size) return known;
  const all = (await findDefinitions()).map(({ name }) => name);
  const unknown = names.find((name) => !all.includes(name));
  throw new UsageError(`there is no function ${unknown} to serve; there are ${all.join(', ')}`);
}
