import manifest from '../../package.json' with { type: 'json' };
import { errorMessage, ShootFluxError } from '../../shared/errors.ts';
import { type Command, columns, exitCodes, programOf } from './command.ts';
import { type Terminal, UnseenError, UsageError } from './option.ts';

/** What the overview says of a command, and its code: imported on demand, so that each command loads only its own. */
type Entry = [summary: string, load: () => Promise<{ default: Command }>];

const forPeople: Record<string, Entry> = {
  status: ['Show the state of Flux in the Shoots of a project, or of all.', () => import('./status.ts')],
  reconcile: ['Ask Flux in a Shoot, or in all Shoots of a project, to reconcile now.', () => import('./reconcile.ts')],
  suspend: ['Suspend Flux in all Shoots of a project, for an incident.', () => import('./suspend.ts')],
  resume: [
    'Resume Flux in all Shoots of a project.',
    async () => ({ default: (await import('./suspend.ts')).resumption }),
  ],
  keys: ["Show or rotate the key pair of a project's repository.", () => import('./keys.ts')],
  explain: [
    'Show what is wrong with Flux in one Shoot, from its configuration to its workload.',
    () => import('./explain.ts'),
  ],
  doctor: ['Examine a deployment: credentials, rights, webhooks, versions, queue.', () => import('./doctor.ts')],
  page: ['Serve a page about Flux in all Shoots, or write it to files.', () => import('./page.ts')],
  render: ['Print the objects for a shoot.', () => import('./render.ts')],
  validate: ['Check a configuration.', () => import('./validate.ts')],
  distribution: ['Make and inspect distributions of Flux releases.', () => import('./distribution.ts')],
  completion: ['Print a script that completes command lines.', () => import('./completion.ts')],
};

/** Parts of an installation, which run until a signal. */
const services: Record<string, Entry> = {
  run: ['Run the whole product in one process.', () => import('./run.ts')],
  serve: ['Serve functions over HTTP, for Knative.', () => import('./serve.ts')],
  watch: ['Watch clusters and send changes to functions that run elsewhere.', () => import('./watch.ts')],
  webhooks: ['Serve the webhooks alone.', () => import('./webhooks.ts')],
};

const commands: Record<string, Entry> = { ...forPeople, ...services };

/** Returns the names of the commands with their summaries. */
export const summaries = () => Object.entries(commands).map(([name, [summary]]): [string, string] => [name, summary]);

/** Returns a command; undefined where there is none of this name. */
export async function findCommand(name: string): Promise<Command | undefined> {
  const [, load] = (Object.hasOwn(commands, name) && commands[name]) || [];
  return (await load?.())?.default;
}

/** Returns the commands that run until a signal. */
export async function serviceCommands(): Promise<Command[]> {
  return Promise.all(Object.values(services).map(async ([, load]) => (await load()).default));
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
    if (name === COMPLETE) return await (await import('./completion.ts')).complete(rest, terminal);
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
  const listOf = (entries: Record<string, Entry>) =>
    columns(Object.entries(entries).map(([name, [summary]]) => [`  ${name}`, summary]));
  const codes = '0 success, 1 something is not Ready or failed, 2 wrong usage, 3 these credentials do not show it.';
  const lists = ['Commands:', ...listOf(forPeople), '', 'Services:', ...listOf(services)];
  const end = `Every command has --help. Exit codes: ${codes}`;
  return `${['Usage:', `  ${program} COMMAND [options]`, '', ...lists, '', end].join('\n')}\n`;
}
