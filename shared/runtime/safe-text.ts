import { withoutSecrets } from './secret-forms.ts';

/** As much of somebody else's message as a condition or an error shows. */
export const LONGEST_QUOTE = 500;

/** A foreign message on one line, without secrets, cut when it is long. */
export function safeText(text: string, longest = LONGEST_QUOTE): string {
  const line = withoutSecrets(text).replace(/\s+/g, ' ').trim();
  return line.length > longest ? `${line.slice(0, longest).trimEnd()}…` : line;
}
