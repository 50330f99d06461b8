import { openTarget, targetOptions } from '../fleet/target.ts';
import { exportPage } from '../page/export.ts';
import { servePage } from '../page/server.ts';
import { startSummary } from '../page/summary.ts';
import { untilSignal } from '../process/signals.ts';
import { command, exitCodes } from './command.ts';
import { list, port, text, UsageError } from './option.ts';

const HOST = '127.0.0.1';
const PORT = 8090;

export default command({
  name: 'page',
  summary: 'Serve a page about Flux in all Shoots that the credentials show, or write it to files.',
  options: {
    ...targetOptions,
    out: text('DIR', 'Write the page to files in this folder, and end.'),
    port: port('Port of the page; 0 takes a free one.', String(PORT)),
    host: text('ADDRESS', 'Address to listen on; any but a loopback one needs --user-header.', { default: HOST }),
    'allow-host': list('NAME', 'Name under which browsers reach the page, besides localhost. Repeatable.'),
    'user-header': text(
      'NAME',
      'Show each project only to users who may read its ConfigMap flux-status. A proxy must set this header to the user, and nobody else may reach the port.',
      { default: 'show what the credentials show' },
    ),
    'groups-header': text('NAME', "Header with the user's groups, separated by commas."),
  },
  notes: 'It only reads. Without --project and --namespace, it shows all projects.',
  async run(values, _, terminal) {
    const { host = HOST, 'user-header': userHeader, 'groups-header': groupsHeader } = values;
    if (groupsHeader !== undefined && userHeader === undefined)
      throw new UsageError('--groups-header needs --user-header');
    const identity = userHeader === undefined ? undefined : { userHeader, groupsHeader };
    if (identity === undefined && !isLoopback(host))
      throw new UsageError(`--host ${host} would show all that your credentials do to everybody; add --user-header`);
    const isAll = values.project === undefined && values.namespace === undefined;
    using target = await openTarget({ ...values, 'all-namespaces': isAll }, terminal.environment);
    const onFailed = (message: string) => terminal.err(`shoot-flux page: ${message}\n`);
    using signals = untilSignal();
    const { garden, namespace } = target;
    await using summary = await startSummary({ garden, namespace, onFailed });
    if (values.out !== undefined) {
      const count = await exportPage(values.out, garden, summary.latest());
      terminal.err(`${count} files are in ${values.out}; open index.html\n`);
      return exitCodes.success;
    }
    const { port = PORT, 'allow-host': allowedHosts } = values;
    const server = await servePage({ summary, garden, host, port, allowedHosts, identity, onFailed });
    terminal.err(`The page is at http://${host.includes(':') ? `[${host}]` : host}:${server.port}/ until Ctrl-C\n`);
    await signals.first;
    await server.stop();
    return exitCodes.success;
  },
});

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
