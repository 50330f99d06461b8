import { cutExactly, cutText } from '../cut-text.ts';
import { withoutSecrets } from './secret-forms.ts';

/** Conditions and errors quote this much of a foreign message. */
export const LONGEST_QUOTE = 500;

/** Only this much of a foreign message is read: a shoot's owner may write texts of any length. */
const LONGEST_READ = 5000;

/** Returns the start of a foreign message, which is searched for its meaning. */
export function beginOf(text: string): string {
  return cutText(text, LONGEST_READ);
}

/**
 * Control characters, which a terminal would obey; characters that reverse the direction of a text, or are invisible;
 * and halves of characters, which not every parser of JSON accepts.
 */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu;

/** Colours for a terminal; the letter at the end of one would be taken for the begin of a token that follows. */
const colours = new RegExp(`${String.fromCharCode(27)}\\[[\\d;?]{0,50}[a-z]`, 'gi');

/** Returns a foreign message on one line, without secrets, cut to a length. */
export function safeText(text: string, longest = LONGEST_QUOTE): string {
  const line = withoutSecrets(beginOf(text).replace(colours, '')).replace(invisible, ' ').trim();
  return line.length > longest ? `${cutExactly(line, longest).trimEnd()}…` : line;
}
