import { cutExactly } from '../../cut-text.ts';
import { safeText } from '../../runtime/safe-text.ts';

/** What `flux-status` says about one Shoot. */
export interface Line {
  state: 'Ready' | 'Progressing' | 'Not Ready' | 'Hibernated';
  /** RFC 3339; absent for Ready and Hibernated, whose lines are short because there are many. */
  since?: string | undefined;
  /** Of Progressing: what was before, where that was not Ready. */
  after?: 'new' | 'Not Ready' | undefined;
  sentence?: string | undefined;
}

const FORM =
  /^(Ready|Progressing|Not Ready|Hibernated)(?: since ([0-9T:.Z+-]{1,40}))?(?: \((new|after Not Ready)\))?(?:: (.*))?$/s;

/** Returns the line as text of at most `longest` bytes, of which only the sentence is cut. */
export function lineText({ state, since, after, sentence }: Line, longest: number): string {
  const time = since === undefined ? '' : ` since ${since}`;
  const before = after === undefined ? '' : ` (${after === 'new' ? 'new' : 'after Not Ready'})`;
  const head = `${state}${time}${before}`;
  if (sentence === undefined) return head;
  const room = longest - head.length - 2;
  const text = cutToBytes(safeText(sentence, LONGEST_SENTENCE), room);
  return text === '' ? head : `${head}: ${text}`;
}

/** Conditions quote long messages; a page about many Shoots has room for the beginning. */
const LONGEST_SENTENCE = 400;

/** Returns the line that a text says; undefined when it is none of ours. */
export function readLine(text: unknown): Line | undefined {
  const found = typeof text === 'string' ? FORM.exec(text) : null;
  if (found === null) return undefined;
  const [, state, since, after, sentence] = found;
  return {
    state: state as Line['state'],
    ...(since !== undefined && { since }),
    ...(after !== undefined && { after: after === 'new' ? ('new' as const) : ('Not Ready' as const) }),
    ...(sentence !== undefined && { sentence }),
  };
}

function cutToBytes(text: string, most: number): string {
  if (most < SHORTEST_SENTENCE) return '';
  if (Buffer.byteLength(text) <= most) return text;
  let cut = cutExactly(text, most - ELLIPSIS);
  while (Buffer.byteLength(cut) > most - ELLIPSIS) cut = cutExactly(cut, cut.length - 1);
  return `${cut.trimEnd()}…`;
}

/** Less says nothing. */
const SHORTEST_SENTENCE = 20;

/** The bytes of `…`. */
const ELLIPSIS = 3;
