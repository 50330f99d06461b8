import { withoutSecrets } from './secret-forms.ts';

/** As much of somebody else's message as a condition or an error shows. */
export const LONGEST_QUOTE = 500;

/** As much of it as is read at all: whoever owns a shoot may write there whatever they like. */
const LONGEST_READ = 5000;

/** The begin of a foreign message, in which its meaning is looked for. */
export function beginOf(text: string): string {
  return text.slice(0, LONGEST_READ);
}

/** A foreign message on one line, without secrets, cut when it is long. */
export function safeText(text: string, longest = LONGEST_QUOTE): string {
  const line = withoutSecrets(beginOf(text)).replace(/\s+/g, ' ').trim();
  return line.length > longest ? `${line.slice(0, longest).trimEnd()}…` : line;
}
