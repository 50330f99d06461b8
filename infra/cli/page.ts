import { openTarget, targetOptions } from '../fleet/target.ts';
import { untilSignal } from '../process/signals.ts';
import { command, exitCodes } from './command.ts';
import { port, text } from './option.ts';

const HOST = '127.0.0.1';

export default command({
  name: 'page',
  summary: 'Serve a page about Flux in all Shoots that the credentials show, or write it to files.',
  options: {
    ...targetOptions,
    port: port('Port of the page.', '8090'),
    host: text('ADDRESS', 'Address to listen on.', { default: HOST }),
  },
  notes: 'It only reads. Without --project and --namespace, it shows all projects.',
  async run(values, _, terminal) {
    const isAll = values.project === undefined && values.namespace === undefined;
    using target = await openTarget({ ...values, 'all-namespaces': isAll }, terminal.environment);
    const { startSummary } = await import('../page/summary.ts');
    const { servePage } = await import('../page/server.ts');
    const onFailed = (message: string) => terminal.err(`shoot-flux page: ${message}\n`);
    const signals = untilSignal();
    try {
      await using summary = await startSummary({ garden: target.garden, namespace: target.namespace, onFailed });
      const { host = HOST, port = 8090 } = values;
      const server = await servePage({ summary, host, port });
      terminal.err(`The page is at http://${host}:${server.port}/ until Ctrl-C\n`);
      await signals.first;
      await server.stop();
    } finally {
      signals.forget();
    }
    return exitCodes.success;
  },
});
