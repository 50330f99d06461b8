import { requestAll, requestOne } from '../fleet/act.ts';
import { followReady, type Lines, readLines } from '../fleet/follow.ts';
import { openTarget, targetOptions } from '../fleet/target.ts';
import { command, exitCodes } from './command.ts';
import { text, UsageError } from './option.ts';

/** The Shoots beyond are counted. */
const MOST_SAID = 20;

export default command({
  name: 'reconcile',
  summary: 'Ask Flux in a Shoot, or in all Shoots of a project, to reconcile now.',
  positionals: '[SHOOT]',
  options: {
    ...targetOptions,
    wait: { type: 'boolean', description: 'Wait until the Shoots are Ready.' },
    timeout: text('TIME', 'How long --wait waits at most, for example 90s or 10m.', { default: '5m' }),
  },
  notes:
    'Without SHOOT, --project or --namespace says of which project all Shoots are asked. A Shoot that is Ready all the\n' +
    'time counts 30 seconds after the request. Exit codes: 0 asked, and Ready with --wait, 1 one is not Ready in time.',
  async run(values, [shoot, ...others], terminal) {
    if (others.length > 0) throw new UsageError('name one Shoot, or none for all of a project');
    if (shoot === undefined && (values.project ?? values.namespace) === undefined)
      throw new UsageError('name a Shoot, or add --project NAME to ask all Shoots of a project');
    const timeoutMs = millisecondsOf(values.timeout ?? '5m');
    using target = await openTarget(values, terminal.environment);
    const { garden, namespace = '', flags } = target;
    const before: Lines = values.wait ? await readLines(garden, namespace) : new Map();
    const now = new Date();
    if (shoot === undefined) await requestAll(garden, namespace, now);
    else await requestOne(garden, namespace, shoot, now);
    const asked = shoot === undefined ? `all Shoots of namespace ${namespace}` : `Shoot ${namespace}/${shoot}`;
    const where = ['shoot-flux status', flags].filter(Boolean).join(' ');
    terminal.out(`Asked Flux in ${asked} to reconcile now; ${where} shows the result.\n`);
    if (!values.wait) return exitCodes.success;
    const read = async () => {
      const lines = await readLines(garden, namespace);
      return shoot === undefined ? lines : new Map([[shoot, lines.get(shoot)]]);
    };
    const bad = await followReady(read, before, { timeoutMs, note: (sentence) => terminal.err(`${sentence}\n`) });
    for (const [name, line] of bad.slice(0, MOST_SAID)) {
      const sentence = line?.sentence ?? 'flux-status has no sentence about it yet';
      terminal.out(`Shoot ${namespace}/${name} is ${line?.state ?? 'unknown'}: ${sentence}\n`);
    }
    if (bad.length > MOST_SAID) terminal.out(`${bad.length - MOST_SAID} more are not Ready; see: ${where}\n`);
    if (bad.length === 0) terminal.out(`Flux is Ready in ${asked}.\n`);
    return bad.length === 0 ? exitCodes.success : exitCodes.failure;
  },
});

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000 } as const;

function millisecondsOf(time: string): number {
  const [, count, unit] = /^(\d{1,6})([smh])$/.exec(time) ?? [];
  if (unit === undefined) throw new UsageError(`--timeout ${time} is not a time; write for example 90s or 10m`);
  return Number(count) * UNITS[unit as keyof typeof UNITS];
}
