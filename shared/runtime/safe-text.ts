import { withoutSecrets } from './secret-forms.ts';

/** Conditions and errors quote this much of a foreign message. */
export const LONGEST_QUOTE = 500;

/** Only this much of a foreign message is read: a shoot's owner may write texts of any length. */
const LONGEST_READ = 5000;

/** Returns the start of a foreign message, which is searched for its meaning. */
export function beginOf(text: string): string {
  return text.slice(0, LONGEST_READ);
}

/** Returns a foreign message on one line, without secrets, cut to a length. */
export function safeText(text: string, longest = LONGEST_QUOTE): string {
  const line = withoutSecrets(beginOf(text)).replace(/\s+/g, ' ').trim();
  return line.length > longest ? `${line.slice(0, longest).trimEnd()}…` : line;
}
