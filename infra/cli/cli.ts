import manifest from '../../package.json' with { type: 'json' };
import { errorMessage, ShootFluxError } from '../../shared/errors.ts';
import { type Command, columns, exitCodes, programOf } from './command.ts';
import { type Terminal, UnseenError, UsageError } from './option.ts';

interface Entry {
  summary: string;
  /** True: the command runs until a signal, as a part of an installation. */
  isService?: true;
  /** Imported on demand, so that each command loads only its own code. */
  load(): Promise<{ default: Command }>;
}

const commands: Record<string, Entry> = {
  status: {
    summary: 'Show the state of Flux in the Shoots of a project, or of all.',
    load: () => import('./status.ts'),
  },
  reconcile: {
    summary: 'Ask Flux in a Shoot, or in all Shoots of a project, to reconcile now.',
    load: () => import('./reconcile.ts'),
  },
  suspend: {
    summary: 'Suspend Flux in all Shoots of a project, for an incident.',
    load: () => import('./suspend.ts'),
  },
  resume: {
    summary: 'Resume Flux in all Shoots of a project.',
    load: async () => ({ default: (await import('./suspend.ts')).resumption }),
  },
  keys: { summary: "Show or rotate the key pair of a project's repository.", load: () => import('./keys.ts') },
  explain: {
    summary: 'Show what is wrong with Flux in one Shoot, from its configuration to its workload.',
    load: () => import('./explain.ts'),
  },
  doctor: {
    summary: 'Examine a deployment: credentials, rights, webhooks, versions, queue.',
    load: () => import('./doctor.ts'),
  },
  page: {
    summary: 'Serve a page about Flux in all Shoots, or write it to files.',
    load: () => import('./page.ts'),
  },
  render: { summary: 'Print the objects for a shoot.', load: () => import('./render.ts') },
  validate: { summary: 'Check a configuration.', load: () => import('./validate.ts') },
  distribution: {
    summary: 'Make and inspect distributions of Flux releases.',
    load: () => import('./distribution.ts'),
  },
  completion: { summary: 'Print a script that completes command lines.', load: () => import('./completion.ts') },
  run: { summary: 'Run the whole product in one process.', isService: true, load: () => import('./run.ts') },
  serve: { summary: 'Serve functions over HTTP, for Knative.', isService: true, load: () => import('./serve.ts') },
  watch: {
    summary: 'Watch clusters and send changes to functions that run elsewhere.',
    isService: true,
    load: () => import('./watch.ts'),
  },
  webhooks: { summary: 'Serve the webhooks alone.', isService: true, load: () => import('./webhooks.ts') },
};

/** Returns the commands with their summaries. */
export const summaries = (): [string, string][] =>
  Object.entries(commands).map(([name, { summary }]) => [name, summary]);

/** Returns a command; undefined where there is none of this name. */
export async function findCommand(name: string): Promise<Command | undefined> {
  return Object.hasOwn(commands, name) ? (await commands[name]?.load())?.default : undefined;
}

/** Returns the commands that run until a signal. */
export async function serviceCommands(): Promise<Command[]> {
  const services = Object.values(commands).filter(({ isService }) => isService);
  return Promise.all(services.map(async ({ load }) => (await load()).default));
}

/**
 * Runs one command line and reports an error in one plain line.
 * @returns the exit code: 0 success, 1 failure, 2 wrong usage, 3 the credentials do not show what was asked for
 */
export async function cli(args: string[], terminal: Terminal): Promise<number> {
  const [name = '--help', ...rest] = args;
  if (name === '--help' || name === '-h' || name === 'help') {
    terminal.out(overview(programOf(terminal)));
    return args.length === 0 ? exitCodes.wrongUsage : exitCodes.success;
  }
  if (name === '--version') {
    terminal.out(`${manifest.version}\n`);
    return exitCodes.success;
  }
  try {
    if (name === COMPLETE) return await (await import('./complete.ts')).complete(rest, terminal);
    const command = await findCommand(name);
    if (command === undefined) throw new UsageError(`unknown command "${name}"`);
    return await command.run(rest, terminal);
  } catch (error) {
    return report(error, name, terminal);
  }
}

/** As flux and kubectl call it for a completion (RFC-0013 of Flux, cobra). */
const COMPLETE = '__complete';

function report(error: unknown, name: string, terminal: Terminal): number {
  const program = programOf(terminal);
  if (error instanceof UsageError) {
    const topic = Object.hasOwn(commands, name) ? ` ${name}` : '';
    terminal.err(`${program}${topic}: ${error.message}; see: ${program}${topic} --help\n`);
    return exitCodes.wrongUsage;
  }
  // Any other error is a defect: the stack trace shows where.
  const plain = error instanceof ShootFluxError || !(error instanceof Error);
  terminal.err(`${program} ${name}: ${plain ? errorMessage(error) : (error.stack ?? error.message)}\n`);
  return error instanceof UnseenError ? exitCodes.unseen : exitCodes.failure;
}

function overview(program: string): string {
  const lines = ['Usage:', `  ${program} COMMAND [options]`];
  const of = (isService: boolean) =>
    columns(
      Object.entries(commands)
        .filter(([, entry]) => (entry.isService ?? false) === isService)
        .map(([name, { summary }]) => [`  ${name}`, summary]),
    );
  const codes = '0 success, 1 something is not Ready or failed, 2 wrong usage, 3 these credentials do not show it.';
  lines.push('', 'Commands:', ...of(false), '', 'Services:', ...of(true));
  return `${[...lines, '', `Every command has --help. Exit codes: ${codes}`].join('\n')}\n`;
}
