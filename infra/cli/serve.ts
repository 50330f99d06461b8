import { sinkAt } from '../../events/cloudevents/sink.ts';
import type { QueueFunction } from '../../events/run.ts';
import { kubeconfigFiles } from '../../shared/runtime/clusters.ts';
import { findDefinitions, findFunctions } from '../functions.ts';
import { startServing } from '../knative/serving.ts';
import { clusterNotes, clustersOf } from './clusters.ts';
import { service } from './command.ts';
import { usableReleases } from './distribution-inspect.ts';
import { distributionFolder } from './distribution-oci.ts';
import { missing, UsageError } from './option.ts';
import { clusterOptions, healthOptions, serveOptions, settingsOptions, sinkOptions } from './options.ts';
import { settingsOf } from './settings.ts';

/** Knative passes another one in `PORT`. */
const HTTP_PORT = 8080;

export default service({
  name: 'serve',
  summary: 'Serve functions over HTTP: each CloudEvent with a change is one run, or joins one.',
  positionals: 'FUNCTION…',
  options: {
    ...clusterOptions,
    ...settingsOptions,
    sink: { ...sinkOptions.sink, required: true },
    ...serveOptions,
    'shoot-health': healthOptions['shoot-health'],
  },
  notes: `${clusterNotes}\nFor a Knative Service behind a Trigger. Answers 204 for a run that succeeded, 503 for one that may succeed later, 400 and 422 for what never will. On SIGTERM, events under way are finished first.`,
  async start(values, names, terminal, log) {
    const functions = await functionsOf(names);
    const url = values.sink ?? missing('--sink URL');
    const { files, seeds } = await clustersOf(values);
    const folder = await distributionFolder(values, terminal.environment);
    const settings = settingsOf({ ...values, 'flux-distribution': folder }, seeds, terminal.environment);
    const releases = await usableReleases(folder);
    const { port, stop } = await startServing({
      credentials: () => kubeconfigFiles(files),
      sink: sinkAt(url, terminal.environment),
      port: values.port ?? HTTP_PORT,
      concurrency: values.concurrency,
      ...{ functions, settings, log },
    });
    const served = `${names.join(', ')} for ${seeds.join(', ')} with Flux ${releases.join(', ')}`;
    return { line: `serves ${served}, events and metrics on port ${port}`, stop };
  },
});

/** @throws UsageError */
async function functionsOf(names: string[]): Promise<QueueFunction[]> {
  if (names.length === 0) throw new UsageError('name at least one function, such as managed-resources');
  const known = await findFunctions(names);
  if (known.length === new Set(names).size) return known;
  const all = (await findDefinitions()).map(({ name }) => name);
  const unknown = names.find((name) => !all.includes(name));
  throw new UsageError(`there is no function ${unknown} to serve; there are ${all.join(', ')}`);
}
