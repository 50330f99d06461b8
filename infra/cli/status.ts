import { setTimeout as sleep } from 'node:timers/promises';
import type { Line } from '../../shared/gardener/status-map.ts';
import { UnreachableError } from '../../shared/kube/errors.ts';
import { counted } from '../../shared/runtime/safe-text.ts';
import { countsOf, type Fleet, type FleetShoot, isBad, readFleet, states, wordOf } from '../fleet/fleet.ts';
import { ageOf, colored, type Output, outputOption, printed, shortened } from '../fleet/print.ts';
import { allNamespacesOption, openTarget, targetOptions } from '../fleet/target.ts';
import { columns, command, exitCodes } from './command.ts';
import { list, type Terminal, text, UsageError } from './option.ts';

const words = states.map(wordOf);
const wordsIn = (text: string) => text.toLowerCase().split(',');

/** How often `--watch` looks: a line changes some seconds after the Shoot. */
const WATCH_MS = 5_000;

export default command({
  name: 'status',
  summary: 'Show the state of Flux in the Shoots of a project, or of all: what is not Ready first.',
  options: {
    ...targetOptions,
    ...allNamespacesOption,
    selector: text('LABELS', 'Only Shoots with these labels, for example stage=prod.', { short: 'l' }),
    state: list('STATE', `Only Shoots in this state: ${words.join(', ')}. Repeatable.`, {
      problem(text) {
        const unknown = wordsIn(text).find((word) => !words.includes(word));
        return unknown === undefined ? undefined : `${unknown} is none of ${words.join(', ')}`;
      },
    }),
    seed: list('NAME', 'Only Shoots on this seed. Repeatable.'),
    watch: { type: 'boolean', short: 'w', description: 'Print each change after that, until Ctrl-C.' },
    ...outputOption,
  },
  notes: 'Exit codes: 0 all are Ready or hibernated, 1 one is not, 2 wrong usage, 3 these credentials do not show it.',
  async run({ output = 'table', ...values }, _, terminal) {
    if (values.watch && (output === 'json' || output === 'yaml'))
      throw new UsageError('--watch prints tables and names');
    using target = await openTarget(values, terminal.environment);
    const wanted = values.state?.flatMap(wordsIn);
    const read = async () => {
      // Where Shoots may not be listed, a filter by their seeds would show none, as if all were well.
      const selector = values.selector ?? (values.seed && '');
      const fleet = await readFleet(target.garden, target.namespace, selector);
      const isWanted = ({ state, seed }: FleetShoot) =>
        (wanted?.includes(wordOf(state)) ?? true) &&
        (values.seed === undefined || seed.split(',').some((one) => values.seed?.includes(one)));
      return { ...fleet, shoots: fleet.shoots.filter(isWanted) };
    };
    const fleet = await read();
    for (const sentence of fleet.unseen) terminal.err(`${sentence}\n`);
    const view = { output, isAll: target.namespace === undefined, terminal };
    show(fleet, view);
    if (values.watch) await follow(fleet, read, view);
    return fleet.shoots.some(isBad) ? exitCodes.failure : exitCodes.success;
  },
});

interface View {
  output: Output;
  /** True: of all projects. */
  isAll: boolean;
  terminal: Terminal;
}

function show({ shoots, rollouts, suspensions, landscape }: Fleet, view: View): void {
  const { output, isAll, terminal } = view;
  const content = { items: shoots, rollouts, suspensions, landscape, counts: countsOf(shoots) };
  if (printed(output, 'Status', content, terminal)) return;
  const isLong = output === 'table' && shoots.length > MOST_LISTED;
  const lines = linesOf(isLong ? shoots.filter(isBad) : shoots, view);
  const textsOf = (what: string, texts: Record<string, string>) =>
    Object.entries(texts).map(([namespace, text]) => `${what}${isAll ? ` in ${namespace}` : ''}: ${text}`);
  if (output !== 'name') {
    if (lines.length > 0) lines.push('');
    if (landscape !== undefined) lines.push(`Rollout of the operators: ${landscape}`);
    lines.push(...textsOf('Suspended', suspensions), ...textsOf('Rollout', rollouts), summaryOf(shoots));
  }
  terminal.out(textOf(lines));
  if (isLong) terminal.err('Only Shoots that are progressing or not Ready are listed; -o wide lists all.\n');
}

/** Of more Shoots, those that are well would push the others off the screen. */
const MOST_LISTED = 50;

const textOf = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');

/** Prints what changes, as kubectl does. */
async function follow({ shoots: first }: Fleet, read: () => Promise<Fleet>, view: View): Promise<never> {
  const known = (shoots: FleetShoot[]) => new Set(shoots.map((shoot) => JSON.stringify(shoot)));
  let before = known(first);
  for (;;) {
    await sleep(WATCH_MS);
    const seen = await read().catch((error: unknown) => {
      if (!(error instanceof UnreachableError)) throw error;
      view.terminal.err(`${error.message}\n`);
    });
    if (seen === undefined) continue;
    const { shoots } = seen;
    const changed = shoots.filter((shoot) => !before.has(JSON.stringify(shoot)));
    view.terminal.out(textOf(linesOf(changed, view).slice(view.output === 'name' ? 0 : 1)));
    before = known(shoots);
  }
}

const colors = { 'Not Ready': 'red', Progressing: 'yellow', Hibernated: 'dim', Ready: 'green' } as const;

/** A terminal has room for the beginning of a sentence; `-o wide` has all of it. */
const LONGEST_MESSAGE = 80;

/** Returns a line for each Shoot; in tables, below their heads. */
function linesOf(shoots: FleetShoot[], { output, isAll, terminal }: View): string[] {
  if (output === 'name') return shoots.map(({ namespace, name }) => (isAll ? `${namespace}/${name}` : name));
  if (shoots.length === 0) return [];
  const now = new Date();
  const head = ['NAME', 'STATE', 'SINCE', 'FLUX', 'SEED', 'MESSAGE'];
  const rows = shoots.map(({ namespace, name, state, since, flux = '', seed, sentence = '' }) => [
    ...(isAll ? [namespace] : []),
    ...[name, colored(state, colors[state], terminal), ageOf(since, now), flux, seed],
    output === 'wide' ? sentence : shortened(sentence, LONGEST_MESSAGE),
  ]);
  return columns([isAll ? ['NAMESPACE', ...head] : head, ...rows], 3);
}

function summaryOf(shoots: readonly Line[]): string {
  const { Ready, Progressing, 'Not Ready': notReady, Hibernated, all } = countsOf(shoots);
  const hibernated = Hibernated === 0 ? '' : `, ${Hibernated} hibernated`;
  return `${notReady} not Ready, ${Progressing} progressing${hibernated}, ${Ready} Ready of ${counted(all, 'Shoot')}`;
}
