import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Line } from '../../shared/gardener/status-map.ts';
import { UnreachableError } from '../../shared/kube/errors.ts';
import { requestAll, requestOne } from '../fleet/act.ts';
import { isBad, readFleet } from '../fleet/fleet.ts';
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
    const { garden, namespace = '' } = target;
    const read = async (): Promise<Lines> => {
      const { shoots } = await readFleet(garden, namespace);
      const lines = new Map<string, Line>(shoots.map((one) => [one.name, one]));
      return shoot === undefined ? lines : new Map([[shoot, lines.get(shoot)]]);
    };
    const before = values.wait ? await read() : undefined;
    const now = new Date();
    const isNamed = (values.project ?? values.namespace) !== undefined;
    const remedy = `${target.repeat('resume')}${isNamed ? '' : ` --namespace ${namespace}`}`;
    if (shoot === undefined) await requestAll(garden, namespace, now, remedy);
    else await requestOne(garden, namespace, shoot, now, remedy);
    const asked = shoot === undefined ? `all Shoots of namespace ${namespace}` : `Shoot ${namespace}/${shoot}`;
    const where = target.repeat('status');
    terminal.out(`Asked Flux in ${asked} to reconcile now; ${where} shows the result.\n`);
    if (before === undefined) return exitCodes.success;
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

/** Lines of `flux-status` by the names of the Shoots that count, also of one that has none. */
type Lines = ReadonlyMap<string, Line | undefined>;

/** An edit reaches all Shoots of a large project within ten seconds, and an attempt of Flux takes seconds. */
const SETTLE_MS = 30_000;

const POLL_MS = 2_000;

/**
 * Waits until all Shoots are Ready or hibernated. A line that was good before counts only after half a minute, because a
 * Shoot that stays Ready writes none.
 * @param note gets a sentence whenever the Shoots that are waited for have changed
 * @returns the Shoots that are not good when the time is up
 */
async function followReady(
  read: () => Promise<Lines>,
  before: Lines,
  { timeoutMs, note }: { timeoutMs: number; note(sentence: string): void },
): Promise<[string, Line | undefined][]> {
  const began = Date.now();
  let said = '';
  for (;;) {
    const elapsed = Date.now() - began;
    const lines = await read().catch((error: unknown) => {
      if (!(error instanceof UnreachableError) || elapsed >= timeoutMs) throw error;
      note(error.message);
    });
    if (lines === undefined) {
      await sleep(POLL_MS);
      continue;
    }
    const bad = [...lines].filter(([, line]) => isBad(line));
    const isOpen = ([name, line]: [string, Line | undefined]) =>
      isBad(line) || (elapsed < SETTLE_MS && isDeepStrictEqual(line, before.get(name)));
    const open = [...lines].filter(isOpen);
    if (open.length === 0 || elapsed >= timeoutMs) return bad;
    const names = open.slice(0, 3).map(([name]) => name);
    const more = open.length > names.length ? ` and ${open.length - names.length} more` : '';
    const sentence = `${lines.size - open.length} of ${lines.size} are Ready; waiting for ${names.join(', ')}${more}`;
    if (sentence !== said) note(sentence);
    said = sentence;
    await sleep(Math.min(POLL_MS, Math.max(1, timeoutMs - elapsed)));
  }
}

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000 } as const;

function millisecondsOf(time: string): number {
  const [, count, unit] = /^(\d{1,6})([smh])$/.exec(time) ?? [];
  if (unit === undefined) throw new UsageError(`--timeout ${time} is not a time; write for example 90s or 10m`);
  return Number(count) * UNITS[unit as keyof typeof UNITS];
}
