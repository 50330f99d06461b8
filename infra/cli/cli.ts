import { errorMessage, ShootFluxError } from '../../shared/errors.ts';
import { type Command, columns, exitCodes } from './command.ts';
import { type Terminal, UnseenError, UsageError } from './option.ts';

interface Entry {
  summary: string;
  /** Imported on demand, so that each command loads only its own code. */
  load(): Promise<{ default: Command }>;
}

const commands: Record<string, Entry> = {
  run: { summary: 'Run the whole product in one process.', load: () => import('./run.ts') },
  serve: { summary: 'Serve functions over HTTP, for Knative.', load: () => import('./serve.ts') },
  watch: {
    summary: 'Watch clusters and send changes to functions that run elsewhere.',
    load: () => import('./watch.ts'),
  },
  status: {
    summary: 'Show the state of Flux in the Shoots of a project, or of all.',
    load: () => import('./status.ts'),
  },
  page: {
    summary: 'Serve a page about Flux in all Shoots, or write it to files.',
    load: () => import('./page.ts'),
  },
  render: { summary: 'Print the objects for a shoot.', load: () => import('./render.ts') },
  validate: { summary: 'Check a configuration.', load: () => import('./validate.ts') },
  webhooks: { summary: 'Serve the webhooks alone.', load: () => import('./webhooks.ts') },
  distribution: {
    summary: 'Make and inspect distributions of Flux releases.',
    load: () => import('./distribution.ts'),
  },
};

/** Returns the commands that run until a signal. */
export async function serviceCommands(): Promise<Command[]> {
  const all = await Promise.all(Object.values(commands).map(async ({ load }) => (await load()).default));
  return all.filter(({ definition }) => definition.isService === true);
}

/**
 * Runs one command line and reports an error in one plain line.
 * @returns the exit code: 0 success, 1 failure, 2 wrong usage
 */
export async function cli(args: string[], terminal: Terminal): Promise<number> {
  const [name = '--help', ...rest] = args;
  if (name === '--help' || name === 'help') {
    terminal.out(overview());
    return args.length === 0 ? exitCodes.wrongUsage : exitCodes.success;
  }
  try {
    const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (entry === undefined) throw new UsageError(`unknown command "${name}"`);
    const { default: command } = await entry.load();
    return await command.run(rest, terminal);
  } catch (error) {
    return report(error, name, terminal);
  }
}

function report(error: unknown, name: string, terminal: Terminal): number {
  if (error instanceof UsageError) {
    const topic = Object.hasOwn(commands, name) ? ` ${name}` : '';
    terminal.err(`shoot-flux${topic}: ${error.message}; see: shoot-flux${topic} --help\n`);
    return exitCodes.wrongUsage;
  }
  if (error instanceof UnseenError) {
    terminal.err(`shoot-flux ${name}: ${error.message}.\n`);
    return exitCodes.unseen;
  }
  // Any other error is a defect: the stack trace shows where.
  const plain = error instanceof ShootFluxError || !(error instanceof Error);
  terminal.err(`shoot-flux ${name}: ${plain ? errorMessage(error) : (error.stack ?? error.message)}\n`);
  return exitCodes.failure;
}

function overview(): string {
  const rows = Object.entries(commands).map(([name, { summary }]): [string, string] => [`  ${name}`, summary]);
  const lines = ['Usage:', '  shoot-flux COMMAND [options]', '', 'Commands:', ...columns(rows)];
  return `${[...lines, '', 'Every command has --help. Exit codes: 0 success, 1 failure, 2 wrong usage.'].join('\n')}\n`;
}
