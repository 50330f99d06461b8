import { safeText } from '../../../shared/runtime/safe-text.ts';
import type { Terminal } from '../../cli/option.ts';
import { type Color, colored, shortened } from '../print.ts';

/** One link of the chain from the configuration to the workload. */
export interface Link extends Report {
  name: 'Configuration' | 'Operation' | 'Delivery' | 'Flux' | 'Next';
  details: string[];
}

/** What a link says. */
export interface Report {
  /** `attention`: it is under way, or worth knowing; `unseen`: these credentials do not show it, and `text` says what does. */
  mark: keyof typeof marks;
  /** A few words for its line. */
  text: string;
  /** Where something is wrong: what it is, and the remedy. */
  sentence?: string | undefined;
  /** The command that shows it. */
  command?: string | undefined;
  /** What it consists of, a line for each part. */
  details?: string[];
}

const marks = {
  ok: { sign: '✔', color: 'green' },
  broken: { sign: '✗', color: 'red' },
  attention: { sign: '!', color: 'yellow' },
  unseen: { sign: '?', color: 'dim' },
} as const satisfies Record<string, { sign: string; color: Color }>;

/** Sentences with a remedy and a quotation. */
const LONGEST_SENTENCE = 1500;

/**
 * Returns a link without secrets and control characters, which objects of others may hold anywhere.
 * @param report or why these credentials do not show it
 */
export function linkOf(name: Link['name'], report: Report | string): Link {
  const safe = (text: string) => safeText(text, LONGEST_SENTENCE);
  if (typeof report === 'string') return { name, mark: 'unseen', text: safe(report), details: [] };
  const { mark, text, sentence, command, details = [] } = report;
  return { name, mark, text: safe(text), sentence: sentence && safe(sentence), command, details: details.map(safe) };
}

const INDENT = ' '.repeat('✔ Configuration  '.length);

/** Lines below a link, and characters of each; `-o wide` has all of them. */
const MOST_DETAILS = 8;
const LONGEST_DETAIL = 160;

/**
 * Returns the chain as text: a line for each link; below the first broken one, or else the first that deserves attention,
 * its sentence and the command.
 */
export function chainText(links: readonly Link[], isWide: boolean, terminal: Terminal): string {
  const first = links.find(({ mark }) => mark === 'broken') ?? links.find(({ mark }) => mark === 'attention');
  const lines = links.flatMap((link) => {
    const { sign, color } = marks[link.mark];
    const why = [link.sentence, link.command && `$ ${link.command}`].filter((one) => one !== undefined);
    const below = isWide
      ? link.details
      : link.details.slice(0, MOST_DETAILS).map((line) => shortened(line, LONGEST_DETAIL));
    const rest = link.details.length - below.length;
    if (rest > 0) below.push(`… ${rest} more with -o wide`);
    return [
      `${colored(sign, color, terminal)} ${link.name.padEnd(INDENT.length - 2)}${link.text}`,
      ...(isWide || link === first ? why : []).map((line) => INDENT + line),
      ...below.map((line) => colored(INDENT + line, 'dim', terminal)),
    ];
  });
  return `${lines.join('\n')}\n`;
}
