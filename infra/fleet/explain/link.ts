import { cutExactly, safeText } from '../../../shared/runtime/safe-text.ts';
import type { Terminal } from '../../cli/option.ts';
import { type Color, colored } from '../print.ts';

/** `ok`; `attention`: nothing is broken, but something is under way or worth knowing; `unseen`: no credentials show it. */
export type Mark = 'ok' | 'broken' | 'attention' | 'unseen';

/** One link of the chain from the configuration to the workload. All of its texts are safe to show. */
export interface Link {
  name: 'Configuration' | 'Operation' | 'Delivery' | 'Flux' | 'Next';
  mark: Mark;
  /** A few words for its line. */
  text: string;
  /** Not `ok`: what is wrong, and the remedy. */
  sentence?: string | undefined;
  /** The command that shows it. */
  command?: string | undefined;
  /** What it consists of, one line each. */
  details: string[];
}

const marks: Record<Mark, { sign: string; color: Color }> = {
  ok: { sign: '✔', color: 'green' },
  broken: { sign: '✗', color: 'red' },
  attention: { sign: '!', color: 'yellow' },
  unseen: { sign: '?', color: 'dim' },
};

const WIDTH = 'Configuration'.length;
const INDENT = ' '.repeat(WIDTH + 4);

/** Lines below a link, and characters of each; `-o wide` has all of them. */
const MOST_DETAILS = 8;
const LONGEST_DETAIL = 160;

const cut = (line: string) =>
  line.length > LONGEST_DETAIL ? `${cutExactly(line, LONGEST_DETAIL - 1).trimEnd()}…` : line;

/** Returns a link that these credentials do not show. @param text why, and which right or option shows it */
export function unseenLink(name: Link['name'], text: string): Link {
  return { name, mark: 'unseen', text: safeText(text), details: [] };
}

/** Returns the first broken link. */
export function firstBroken(links: readonly Link[]): Link | undefined {
  return links.find(({ mark }) => mark === 'broken');
}

/** Returns the chain as text: a line for each link, below the first broken one its sentence and the command. */
export function chainText(links: readonly Link[], isWide: boolean, terminal: Terminal): string {
  const broken = firstBroken(links);
  const lines = links.flatMap((link) => {
    const { sign, color } = marks[link.mark];
    const why = link === broken || (isWide && link.mark !== 'ok') ? [link.sentence, link.command] : [];
    const shown = isWide ? link.details : link.details.slice(0, MOST_DETAILS).map(cut);
    const rest = link.details.length - shown.length;
    return [
      `${colored(sign, color, terminal)} ${link.name.padEnd(WIDTH)}  ${link.text}`,
      ...why.flatMap((line, index) => (line === undefined ? [] : [`${INDENT}${index === 1 ? '$ ' : ''}${line}`])),
      ...shown.map((line) => colored(`${INDENT}${line}`, 'dim', terminal)),
      ...(rest > 0 ? [colored(`${INDENT}… ${rest} more with -o wide`, 'dim', terminal)] : []),
    ];
  });
  return `${lines.join('\n')}\n`;
}

/** Sentences with their remedy and a quotation. */
const LONGEST_SENTENCE = 1500;

/** Returns a sentence of others that is safe to show. */
export const safeSentence = (text: string) => safeText(text, LONGEST_SENTENCE);

/** Returns a kubectl command; arguments with other characters than those of names and paths are quoted. */
export function kubectl(args: readonly string[], namespace: string, kubeconfig: readonly string[] = []): string {
  const words = ['kubectl', ...args, '--namespace', namespace, ...kubeconfig];
  return words.map((word) => (/^[\w./:@=,{}-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}
