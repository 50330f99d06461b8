import { setTimeout as sleep } from 'node:timers/promises';
import type { Line } from '../../shared/gardener/status-map.ts';
import { countsOf, type Fleet, type FleetShoot, isBad, readFleet, states, wordOf } from '../fleet/fleet.ts';
import { ageOf, type Cell, type Color, type Output, outputOption, printed, shortened, table } from '../fleet/print.ts';
import { allNamespacesOption, openTarget, targetOptions } from '../fleet/target.ts';
import { command, exitCodes } from './command.ts';
import { list, type Terminal, text, UsageError } from './option.ts';

const words = Object.fromEntries(states.map((state) => [wordOf(state), state]));

/** How often `--watch` looks: a line changes some seconds after the Shoot. */
const WATCH_MS = 5_000;

export default command({
  name: 'status',
  summary: 'Show the state of Flux in the Shoots of a project, or of all: what is not Ready first.',
  options: {
    ...targetOptions,
    ...allNamespacesOption,
    selector: text('LABELS', 'Only Shoots with these labels, for example stage=prod.', { short: 'l' }),
    state: list('STATE', `Only Shoots in this state: ${Object.keys(words).join(', ')}. Repeatable.`),
    seed: list('NAME', 'Only Shoots on this seed. Repeatable.'),
    watch: { type: 'boolean', short: 'w', description: 'Print each change after that, until Ctrl-C.' },
    ...outputOption,
  },
  notes: 'Exit codes: 0 all are Ready or hibernated, 1 one is not, 2 wrong usage, 3 these credentials do not show it.',
  async run(values, _, terminal) {
    const wanted = (values.state ?? []).flatMap((entry) => entry.split(',')).map(stateOf);
    const output = values.output ?? 'table';
    if (values.watch && (output === 'json' || output === 'yaml'))
      throw new UsageError('--watch prints tables and names');
    using target = await openTarget(values, terminal.environment);
    const read = async () => {
      const fleet = await readFleet(target.garden, target.namespace, values.selector);
      const isWanted = ({ state, seed }: FleetShoot) =>
        (wanted.length === 0 || wanted.includes(state)) && (values.seed?.includes(seed) ?? true);
      return { ...fleet, shoots: fleet.shoots.filter(isWanted) };
    };
    const fleet = await read();
    for (const sentence of fleet.unseen) terminal.err(`${sentence}\n`);
    show(fleet, output, target.namespace === undefined, terminal);
    if (values.watch) await follow(fleet, read, output, target.namespace === undefined, terminal);
    return fleet.shoots.some(isBad) ? exitCodes.failure : exitCodes.success;
  },
});

function stateOf(text: string): Line['state'] {
  const state = words[text.toLowerCase()];
  if (state === undefined) throw new UsageError(`--state ${text} is none of ${Object.keys(words).join(', ')}`);
  return state;
}

function show({ shoots, rollouts, suspensions }: Fleet, output: Output, isAll: boolean, terminal: Terminal): void {
  const items = shoots.map(({ labels: _, ...shoot }) => shoot);
  if (printed(output, 'Status', { items, rollouts, suspensions, counts: countsOf(shoots) }, terminal)) return;
  if (output === 'name') {
    terminal.out(shoots.map((shoot) => `${nameOf(shoot, isAll)}\n`).join(''));
    return;
  }
  const isLong = output === 'table' && shoots.length > MOST_LISTED && shoots.some(isBad);
  const listed = isLong ? shoots.filter(isBad) : shoots;
  const lines = listed.length === 0 ? [] : [...rows(listed, output, isAll, terminal), ''];
  const textsOf = (what: string, texts: Record<string, string>) =>
    Object.entries(texts).map(([namespace, text]) => `${what}${isAll ? ` in ${namespace}` : ''}: ${text}`);
  const texts = [...textsOf('Suspended', suspensions), ...textsOf('Rollout', rollouts)];
  terminal.out(`${[...lines, ...texts, summaryOf(shoots)].join('\n')}\n`);
  if (isLong) terminal.err('Only those that are not Ready or progressing are listed; -o wide lists all.\n');
}

/** Of more Shoots, those that are well would push the others off the screen. */
const MOST_LISTED = 50;

/** Prints what changes, as kubectl does. */
async function follow(
  first: Fleet,
  read: () => Promise<Fleet>,
  output: Output,
  isAll: boolean,
  terminal: Terminal,
): Promise<never> {
  let before = linesOf(first);
  for (;;) {
    await sleep(WATCH_MS);
    const { shoots, ...rest } = await read();
    const changed = shoots.filter((shoot) => before.get(nameOf(shoot, true)) !== JSON.stringify(shoot));
    if (changed.length > 0) {
      if (output === 'name') show({ ...rest, shoots: changed }, output, isAll, terminal);
      else terminal.out(`${rows(changed, output, isAll, terminal).slice(1).join('\n')}\n`);
    }
    before = linesOf({ shoots });
  }
}

const linesOf = ({ shoots }: Pick<Fleet, 'shoots'>) =>
  new Map(shoots.map((shoot) => [nameOf(shoot, true), JSON.stringify(shoot)]));

const nameOf = ({ namespace, name }: FleetShoot, isAll: boolean) => (isAll ? `${namespace}/${name}` : name);

const colors: Record<Line['state'], Color> = {
  'Not Ready': 'red',
  Progressing: 'yellow',
  Hibernated: 'dim',
  Ready: 'green',
};

/** A terminal has room for the beginning of a sentence; `-o wide` has all of it. */
const LONGEST_MESSAGE = 80;

function rows(shoots: FleetShoot[], output: Output, isAll: boolean, terminal: Terminal): string[] {
  const now = new Date();
  const head = [...(isAll ? ['NAMESPACE'] : []), 'NAME', 'STATE', 'SINCE', 'FLUX', 'SEED', 'MESSAGE'];
  const cells = shoots.map((shoot): Cell[] => {
    const { sentence = '', state, since } = shoot;
    return [
      ...(isAll ? [shoot.namespace] : []),
      shoot.name,
      { text: state, color: colors[state] },
      ageOf(since, now),
      shoot.flux ?? '',
      shoot.seed,
      output === 'wide' ? sentence : shortened(sentence, LONGEST_MESSAGE),
    ];
  });
  return table(head, cells, terminal);
}

function summaryOf(shoots: readonly Line[]): string {
  const { Ready, Progressing, 'Not Ready': notReady, Hibernated, all } = countsOf(shoots);
  const hibernated = Hibernated === 0 ? '' : `, ${Hibernated} hibernated`;
  return `${notReady} not Ready, ${Progressing} progressing${hibernated}, ${Ready} Ready of ${all} ${all === 1 ? 'Shoot' : 'Shoots'}`;
}
